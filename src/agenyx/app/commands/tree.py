"""/tree: the turns of the session on all its branches, and the way from one to another."""

from __future__ import annotations

from agenyx.app.commands.spec import Desk, Reply
from agenyx.app.commands.wording import clip
from agenyx.core.errors import UsageError
from agenyx.session.tree import Tree, Turn

_WIDTH = 60


async def run(desk: Desk, args: str) -> Reply:
    """`args` is the number of a turn, the name of a branch, or ""."""
    found = desk.conversation.tree()
    if not args:
        return Reply(drawn(found), _data(found))
    turn = found.turn(int(args)) if args.isascii() and args.isdecimal() and len(args) < 10 else found.tip(args)
    if turn is None:
        raise UsageError(f"there is no turn and no branch {args}", "/tree alone lists them.")
    desk.conversation.rewind(turn.end, "switch")
    text = f"the conversation goes on after turn {turn.number}: {shown(turn)}\nFiles are as they are."
    return Reply(text, _data(desk.conversation.tree()))


def _data(tree: Tree) -> dict[str, object]:
    turns = [
        {"number": turn.number, "after": turn.after, "branch": turn.branch, "active": turn.active, "prompt": turn.text}
        for turn in tree.turns
    ]
    return {"head": tree.head, "branch": tree.branch, "turns": turns}


def shown(turn: Turn) -> str:
    """The beginning of its prompt, in one line."""
    return clip(turn.text, _WIDTH)


def laid(tree: Tree) -> list[tuple[Turn, int]]:
    """All turns from above, with how far right each stands: what went another way than the first turn that followed
    stands further right, and before it."""
    after: dict[int, list[Turn]] = {}
    for turn in tree.turns:
        after.setdefault(turn.after, []).append(turn)
    made: list[tuple[Turn, int]] = []
    left = [(turn, depth) for depth, turn in _placed(after.get(0, []), 0)]
    while left:
        turn, depth = left.pop(0)
        made.append((turn, depth))
        left[:0] = [(next_, place) for place, next_ in _placed(after.get(turn.number, []), depth)]
    return made


def drawn(tree: Tree) -> str:
    """One row a turn."""
    if not tree.turns:
        return "there are no turns yet"
    rows = ["<- here, before the first turn"] if tree.head == 0 else []
    rows += [_row(tree, turn, depth) for turn, depth in laid(tree)]
    rows.append("/tree N goes on after turn N, /rewind N before it; * marks what the model sees")
    return "\n".join(rows)


def _placed(turns: list[Turn], depth: int) -> list[tuple[int, Turn]]:
    """Turns that follow the same one: the others first, one step further right, so that the first one goes on below."""
    return [(depth + 1, turn) for turn in turns[1:]] + [(depth, turn) for turn in turns[:1]]


def _row(tree: Tree, turn: Turn, depth: int) -> str:
    return f"{'*' if turn.active else ' '} {'  ' * depth}{turn.number:>2}  {shown(turn)}{place(tree, turn)}"


def place(tree: Tree, turn: Turn) -> str:
    """Behind a turn: the branch that begins with it, and whether the conversation stands there."""
    before = tree.turn(turn.after)
    begins = turn.branch and (before is None or before.branch != turn.branch)
    name = f"  [{clip(turn.branch, 30)}]" if begins else ""
    if turn.number != tree.head:
        return name
    new = f", branch {clip(tree.branch, 30)} begins" if tree.branch != turn.branch else ""
    return f"{name}  <- here{new}"
