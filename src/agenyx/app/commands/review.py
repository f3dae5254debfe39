"""/review: have the model look through a change: of the working tree, of a branch, of a pull request, or of paths."""

from __future__ import annotations

import re

from agenyx.app.commands.spec import Desk, Reply
from agenyx.core.messages import Text, User

_TREE = (
    "Look first at `git status` and `git diff HEAD`, and read new files that git does not track yet. Where nothing is "
    "changed, review the last commit (`git show HEAD`) instead and say so."
)
_PULL = (
    "It is pull request {0}. Look at it with `gh pr view {0}` and `gh pr diff {0}`; where gh is missing or refuses, "
    "say so and review what git can show of its branch."
)
_REF = (
    "What is to be reviewed: {0}. Where that names a branch, a tag, a commit or a range, look at what it adds: for a "
    "branch `git diff` from the merge base with the branch that HEAD came from, for a commit `git show`. Where it "
    "names paths, look at their changes since HEAD, and where there are none at the files themselves. Else take it "
    "as a wish for the review of the working tree."
)
_PROMPT = """\
Review a change to this repository. Change nothing yourself.

{what}

Read enough of the code around each change to judge it: callers, tests, and what the change relies on. Look for, in this
order: wrong behaviour and broken edge cases; security (untrusted input, secrets, paths, injection); lost errors, leaks
and races; missing or weak tests; what breaks the conventions of the files around it. Leave out matters of taste and
what a formatter does.

Answer with the findings, the most serious first. For each: file and line, what is wrong, how it would show itself, and
what to do. Check each one against the code before you write it down, and leave out what you could not confirm. If there
is nothing worth changing, say so in one sentence. End with one line that says whether the change is fit to merge."""


async def run(desk: Desk, args: str) -> Reply:
    number = re.fullmatch(r"#?(\d{1,9})|https://github\.com/[\w.-]+/[\w.-]+/pull/\d{1,9}", args)
    what = _TREE if not args else _PULL.format(args.lstrip("#")) if number else _REF.format(args)
    return Reply(prompt=User((Text(_PROMPT.format(what=what)),)))
