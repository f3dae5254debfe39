"""A session is killed (-9) at every point where it changes the world, and goes on: nothing accepted is lost, nothing
happens twice, and its history is valid on every wire.

`AGENYX_CRASHES=all` tries every point, and for every third one kills the process that goes on as well; else a sample.
"""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec import Struct

from crash import checks, story
from crash.lives import Lives, lay_out
from crash.shim import Kill, Point

ALL = os.environ.get("AGENYX_CRASHES") == "all"
SAMPLE = 24
SEED = 5


class Dry(Struct, frozen=True):
    """The points of an undisturbed run, and what it came to."""

    points: tuple[Point, ...]
    again: tuple[Point, ...]
    whole: checks.Whole


@pytest.fixture(scope="module")
def lives() -> Iterator[Lives]:
    server = Lives()
    yield server
    server.close()


@pytest.fixture(scope="module")
def dry(lives: Lives, tmp_path_factory: pytest.TempPathFactory) -> Dry:
    points = list[tuple[Point, ...]]()
    whole = None
    for name in ("first", "second"):
        top = lay_out(tmp_path_factory.mktemp("dry") / name)
        told = lives.run(top, trace=True)
        whole = checks.ended(top, whole, 0, set())
        points.append(told.points)
    assert whole is not None
    return Dry(*points, whole)


def kills(points: Sequence[Point]) -> list[Kill]:
    """Before each point. Writes also in their middle and after them; a started process also just after its start. After
    anything else is, for the disk, before the next point."""
    made = list[Kill]()
    for point in points:
        made.append(Kill(point))
        if point.kind == "write":
            made += [Kill(point, "half"), Kill(point, "after")]
        elif point.kind == "spawn":
            made.append(Kill(point, "after"))
    return made


def sample(made: Sequence[Kill]) -> list[Kill]:
    """Some of each kind and place, the same ones each time."""
    groups = defaultdict[tuple[str, str, str], list[Kill]](list)
    for kill in made:
        assert kill.point is not None
        groups[kill.point.kind, kill.point.place.rpartition("/")[2], kill.when].append(kill)
    dice = random.Random(SEED)
    return [dice.choice(groups[key]) for key in dice.sample(sorted(groups), SAMPLE)]


def killed(lives: Lives, top: Path, whole: checks.Whole, kill: Kill, second: int) -> int:
    """One case: kill, kill again at the `second` point of the process that goes on if there is one, go on to the end.
    Returns how many processes were killed."""
    lay_out(top)
    done, begun = 0, set[str]()
    for one in (kill, Kill(nth=second)) if second else (kill,):
        if lives.run(top, one).code == 0:
            break
        done += 1
        begun |= checks.dead(top)
    assert lives.run(top).code == 0
    checks.ended(top, whole, done, begun)
    return done


def test_the_points_of_the_session(dry: Dry) -> None:
    kinds = Counter(point.kind for point in dry.points)
    assert {"write", "fsync", "open", "rename", "replace", "link", "unlink", "mkdir", "ftruncate", "spawn"} <= set(
        kinds
    )
    assert kinds["write"] > 300 and kinds["fsync"] > 100 and kinds["spawn"] > 30
    differ = set(dry.points) ^ set(dry.again)
    assert len(differ) < len(dry.points) // 20, f"the points are the same each time: {sorted(differ)}"
    assert len(set(dry.points)) == len(dry.points)
    assert sum(len(steps) + 1 for steps in story.TURNS.values()) >= 30


def test_killed_at_any_point_and_resumed(dry: Dry, tmp_path: Path) -> None:
    made = kills(dry.points)
    chosen = made if ALL else sample(made)
    dice = random.Random(SEED)
    seconds = [dice.randrange(1, 300) if number % 3 == 0 else 0 for number in range(len(chosen))]
    failed = list[str]()
    met = Counter[int]()
    workers = max(1, min(os.cpu_count() or 1, 8))

    def work(part: int) -> None:
        lives = Lives()
        try:
            lives.run(lay_out(tmp_path / f"warm{part}"), trace=True)
            for number in range(part, len(chosen), workers):
                top, kill = tmp_path / f"{number}", chosen[number]
                try:
                    met[killed(lives, top, dry.whole, kill, seconds[number])] += 1
                    shutil.rmtree(top)
                except Exception as problem:  # noqa: BLE001 - all of them are told at the end
                    failed.append(f"{kill} second {seconds[number]} ({top}): {type(problem).__name__}: {problem}")
        finally:
            lives.close()

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, range(workers)))
    print(f"{len(chosen)} cases at {len(dry.points)} points; killed so often: {dict(met)}; failed: {len(failed)}")
    assert not failed, "\n".join(failed)
    assert met[0] <= max(3, len(chosen) // 20), "the points are met"
