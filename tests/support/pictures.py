"""Small images of 24 x 16 pixels as Pillow writes them, and ones that are made up."""

from __future__ import annotations

import base64
import zlib

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAABgAAAAQCAIAAACDRijCAAAAK0lEQVR4nGM8ISfHQA3ARBVTqGkQIwPDf4KKTsjJEzZo+IbRqEGjBg0qgwCwRg"
    "QqWKbQTAAAAABJRU5ErkJggg=="
)
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDACgcHiMeGSgjISMtKygwPGRBPDc3PHtYXUlkkYCZlo+AjIqgtObDoKrarYqMyP/L2u71////m8H///"
    "/6/+b9//j/2wBDASstLTw1PHZBQXb4pYyl+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj/wAARCAAQ"
    "ABgDASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhBy"
    "JxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKT"
    "lJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAA"
    "AAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRom"
    "JygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExc"
    "bHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwCp83qPypRnuR+VLRWbk2d9gooopDP/2Q=="
)
PROGRESSIVE = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDACgcHiMeGSgjISMtKygwPGRBPDc3PHtYXUlkkYCZlo+AjIqgtObDoKrarYqMyP/L2u71////m8H///"
    "/6/+b9//j/2wBDASstLTw1PHZBQXb4pYyl+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj/wgARCAAQ"
    "ABgDASIAAhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAAAAED/8QAFgEBAQEAAAAAAAAAAAAAAAAAAQID/9oADAMBAAIQAxAAAAHGk7gP/8QAFB"
    "ABAAAAAAAAAAAAAAAAAAAAIP/aAAgBAQABBQJf/8QAFBEBAAAAAAAAAAAAAAAAAAAAEP/aAAgBAwEBPwE//8QAFREBAQAAAAAAAAAAAAAAAAAA"
    "EBH/2gAIAQIBAT8Bp//EABQQAQAAAAAAAAAAAAAAAAAAACD/2gAIAQEABj8CX//EABUQAQEAAAAAAAAAAAAAAAAAACAh/9oACAEBAAE/Iav/2g"
    "AMAwEAAgADAAAAELfv/8QAFREBAQAAAAAAAAAAAAAAAAAAEBH/2gAIAQMBAT8Qh//EABURAQEAAAAAAAAAAAAAAAAAAAEQ/9oACAECAQE/EFM/"
    "/8QAGhABAAEFAAAAAAAAAAAAAAAAAZEAESBBcf/aAAgBAQABPxDoii+0jH//2Q=="
)
GIF = base64.b64decode(
    "R0lGODdhGAAQAIEAAMgeHgAA/wAAAAAAACwAAAAAGAAQAEAIKAABCBxIsKDBgwgTKlzIsKHDhxAjSpxI0WCAixgzXqzIsaPHjyAfBgQAOw=="
)
WEBP = base64.b64decode(
    "UklGRkoAAABXRUJQVlA4ID4AAABwAwCdASoYABAAP3Ggxli0q6ejsAgCkC4JYgCdMoADSRFWsAAA/nWh8u7aBHGAU+xXfb7NCD5s4wcrWNoIAA=="
)
LOSSLESS = base64.b64decode("UklGRiwAAABXRUJQVlA4TCAAAAAvF8ADAA8wHoP8j//5Dx4IBJL9aTdII6L/AaABAAAAAA==")
EXTENDED = base64.b64decode(
    "UklGRnYAAABXRUJQVlA4WAoAAAAQAAAAFwAADwAAQUxQSBIAAAABD3CF/4iIIBBI2t98goj+Z25WUDggPgAAAHADAJ0BKhgAEAA/caDGWTSrp6"
    "OwCAKQLgliAJ0ygANgWvrQAAD+cw6HcV8gnPAMW2XXqaPRNb9beZydrwAA"
)
PDF = b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n\xe2\xe3\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n"

IMAGES = {
    "image/png": (PNG,),
    "image/jpeg": (JPEG, PROGRESSIVE),
    "image/gif": (GIF,),
    "image/webp": (WEBP, LOSSLESS, EXTENDED),
}


def chunk(kind: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")


def png(width: int, height: int, filler: bytes = b"", text: bytes = b"") -> bytes:
    """A PNG that says it is so large; `filler` is its data, which nobody decodes, `text` a comment in it."""
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\0\0\0"
    comment = chunk(b"tEXt", b"Comment\0" + text) if text else b""
    parts = chunk(b"IHDR", header) + comment + chunk(b"IDAT", filler) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts
