"""From a spelled path to the real one, link by link, and the places that no path may lead to.

Owns links and the special files of the kernel. Looks at links only, opens nothing; knows neither workspace nor policy.
"""

from __future__ import annotations

import os
import re
import stat

from msgspec import Struct

_LINKS = 40  # as many as Linux follows
_HARMLESS = re.compile(
    rb"/dev/(?:null|zero|full|random|urandom|stdin|stdout|stderr|tty)|/(?:dev|proc/self|proc/thread-self)/fd/\d+"
)
_PROCESS = rb"/proc/(?:self|thread-self|\d+)(?:/task/\d+)?"
# Each process sees another file behind these; what the checker finds there is not what a command would find.
_MAGIC = re.compile(_PROCESS + rb"/(?:cwd|root|exe|fd/[^/]+|map_files/[^/]+)")
_SELF = (b"/proc/self", b"/proc/thread-self")
# proc(5) and the device list of Linux: memory, secrets of processes, logs and keys of the kernel, disks, key strokes.
_FORBIDDEN = re.compile(
    _PROCESS + rb"/(?:mem|environ|auxv|pagemap|stack|syscall)"
    rb"|/proc/(?:kcore|kmsg|kpage\w+|kallsyms|keys|vmcore|sysrq-trigger)"
    rb"|/dev/(?:mem|kmem|port|kmsg|core|nvram|uinput|input|mapper|disk|block)(?:/.*)?"
    rb"|/dev/(?:[shv]d[a-z]|xvd[a-z]|nvme\d|mmcblk\d|loop\d|dm-\d|md\d|sr\d|nbd\d|zd\d|ram\d|r?disk\d)[^/]*"
    rb"|/sys/firmware/efi/efivars(?:/.*)?"
)
_MEMORY = 1  # the major number of memory devices on Linux
_RAW = (1, 2, 4, 11)  # its minor numbers for mem, kmem, port, kmsg


class Resolved(Struct, frozen=True):
    """`real` holds no links any more; `via` are the links that led there; `problem` says why it must not be used."""

    real: bytes
    via: tuple[bytes, ...] = ()
    problem: str = ""


def resolve(path: bytes, follow: bool = True) -> Resolved:
    """Follow the links of an absolute path as the system would. Without `follow`, a link at its end stays.

    What does not exist counts as no link. Never raises, save ValueError for a NUL.
    """
    todo = path.split(b"/")[::-1]
    real, via = b"", list[bytes]()
    while todo:
        name = todo.pop()
        if name in (b"", b"."):
            continue
        if name == b"..":
            real = real.rpartition(b"/")[0]
            continue
        place = real + b"/" + name
        if _HARMLESS.fullmatch(place):
            beyond = any(part not in (b"", b".") for part in todo)
            return Resolved(place, tuple(via), "leads through a device" if beyond else "")
        if _MAGIC.fullmatch(place):
            return Resolved(place, tuple(via), "leads through the files of a process; name the file itself")
        target = _target(place) if todo or follow else None
        if target is None:
            real = place
            continue
        via.append(place)
        if len(via) > _LINKS:
            return Resolved(via[0], tuple(via[:1]), "is a loop of symbolic links; use another path")
        real = b"" if target.startswith(b"/") else real
        todo += target.split(b"/")[::-1]
    return Resolved(real or b"/", tuple(via))


def _target(place: bytes) -> bytes | None:
    if place in _SELF:  # a link to this very process, not to the one that will look
        return None
    try:
        return os.readlink(place)
    except OSError:
        return None


def harmless(real: bytes) -> bool:
    """Whether it is a device that holds nothing, or what a program was given to read and write anyway."""
    return _HARMLESS.fullmatch(real) is not None


def forbidden(real: bytes, facts: os.stat_result | None) -> str:
    """Why nothing may ever use this file, or ""."""
    if facts and stat.S_ISBLK(facts.st_mode):
        return "is a disk"
    raw = facts and stat.S_ISCHR(facts.st_mode) and os.major(facts.st_rdev) == _MEMORY
    if raw and facts and os.minor(facts.st_rdev) in _RAW and os.uname().sysname == "Linux":
        return "is the memory of the machine"
    if _FORBIDDEN.fullmatch(real):
        return "is a disk, or a file of the kernel that holds secrets"
    return ""
