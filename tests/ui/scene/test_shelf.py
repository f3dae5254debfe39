"""Long conversations: what is packed comes back as it was, and takes little room."""

from __future__ import annotations

from agenyx.core.events import Outcome, TurnFinished, Usage
from agenyx.core.messages import Media, Text, ToolCall, ToolResult
from agenyx.core.tools import Effects, PathRef
from agenyx.ui.scene.blocks import Answer, Block, Card, Change, Complaint, End, Mark, Note, Said, Thought, Typed
from agenyx.ui.scene.shelf import CHUNK, LIVE, Blocks

CARD = Card(
    key=7,
    name="Edit",
    stage="over",
    draft=[],
    call=ToolCall("call_1", "w", "Edit", '{"x": 1}'),
    effects=Effects(writes=(PathRef("a", b"/w/\xff", "/w"),), preview="--- a\n+++ a"),
    seconds=1.5,
    status="ok",
    result=ToolResult("call_1", "ok", (Text("done"), Media("image", "image/png", "0" * 64, 5, "p.png"))),
    inner=[Answer(key=8, pieces=["inside"])],
)
KINDS: list[Block] = [
    Typed(key=1, text="t", how="steer"),
    Said(key=2, text="s", style="dim"),
    Complaint(key=3, message="m", fix="f"),
    Change(key=4, text="-a"),
    Answer(key=5, pieces=["a", "b"]),
    Thought(key=6, pieces=["x"], seconds=2.0),
    CARD,
    Note(key=9, text="n", level="error", fix="f"),
    Mark(key=10, summary="sum"),
    End(key=11, finished=TurnFinished(Outcome("done"), "", 2, 3.0, Usage(1, 2, 3, 4, 5), 0.5)),
]


def many(count: int) -> list[Block]:
    return [Answer(key=number, pieces=[f"text {number}"]) for number in range(count)]


def test_every_kind_of_block_comes_back_as_it_was() -> None:
    blocks = Blocks([*KINDS, *many(LIVE + CHUNK)])
    assert blocks.live >= len(KINDS)
    assert [blocks[at] for at in range(len(KINDS))] == KINDS


def test_the_newest_stay_the_same_objects() -> None:
    made = many(1000)
    blocks = Blocks(made)
    assert len(blocks) == 1000
    assert blocks[-1] is made[-1]
    assert blocks[blocks.live] is made[blocks.live]
    assert blocks.live > 0


def test_all_of_them_in_their_order() -> None:
    blocks = Blocks(many(1000))
    assert [block.key for block in blocks] == list(range(1000))
    assert [blocks[at].key for at in (0, 63, 64, 500, -1)] == [0, 63, 64, 500, 999]


def test_what_is_not_over_is_not_packed_nor_what_comes_behind_it() -> None:
    open_ = Answer(key=-1, over=False, pieces=["o"])
    blocks = Blocks([open_, *many(1000)])
    assert blocks.live == 0
    open_.over = True
    blocks.extend(many(10))
    assert blocks.live > 0


def test_older_ones_can_be_put_in_front_any_number_at_a_time() -> None:
    blocks = Blocks(many(400))
    blocks.put_before([Answer(key=-number, pieces=["old"]) for number in range(100, 0, -1)])
    blocks.put_before([Answer(key=-200, pieces=["older"])])
    assert [block.key for block in blocks] == [-200, *range(-100, 0), *range(400)]
    assert blocks.added == 101


def test_a_block_can_be_taken_out_while_it_may_change() -> None:
    blocks = Blocks(many(3))
    gone = blocks[1]
    blocks.discard(gone)
    blocks.discard(gone)
    assert [block.key for block in blocks] == [0, 2]


def test_a_text_that_cannot_be_encoded_stays_as_it_is() -> None:
    blocks = Blocks([Answer(key=0, pieces=["\udc80"]), *many(LIVE + CHUNK)])
    first = blocks[0]
    assert isinstance(first, Answer) and first.pieces == ["\udc80"]


def test_two_thousand_turns_take_little_room() -> None:
    blocks = Blocks()
    for number in range(6_000):
        blocks.append(Answer(key=number, pieces=[f"An answer of some length about the module {number}. " * 4]))
    packed = sum(len(chunk) for chunk in blocks._packed)  # type: ignore[attr-defined]
    assert packed < 6_000 * 60
