"""A process that has loaded everything and forks itself for each life of the session, so that a life costs no start.

Reads one JSON line for each life from standard input: `top`, `kill` and whether the points are wanted. Answers with one
line: how the life ended (0, or a negative signal number) and, if wanted, the points that it met. No thread runs here.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
import traceback
from pathlib import Path

import msgspec

from crash.person import Person
from crash.shim import Kill, Point, Shim

TRACE, FAILED, HEARD = "trace.json", "failed.txt", "heard.txt"


class Order(msgspec.Struct, frozen=True):
    top: str
    kill: Kill = Kill()
    trace: bool = False


class Told(msgspec.Struct, frozen=True):
    code: int
    points: tuple[Point, ...] = ()


class Trace(msgspec.Struct, frozen=True):
    points: list[Point]
    modules: list[str]


def life(order: Order) -> None:
    """One process. Does not return."""
    top, write = Path(order.top), os.write
    code = 0
    try:
        shim = Shim(order.top, order.kill)
        person = Person(top, write)
        before = os.open(top / TRACE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600) if order.trace else -1
        shim.install()
        asyncio.run(person.live())
        if before >= 0:
            modules = [name for name in sys.modules if name.startswith("agenyx.")]
            write(before, msgspec.json.encode(Trace(shim.trace, modules)))
    except BaseException:  # noqa: BLE001 - the rim of a process
        code = 70
        report = os.open(top / FAILED, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        write(report, traceback.format_exc().encode())
    os._exit(code)


def main() -> None:
    for line in sys.stdin:
        order = msgspec.json.decode(line, type=Order)
        child = os.fork()
        if child == 0:
            life(order)
        _, ended = os.waitpid(child, 0)
        points: list[Point] = []
        if order.trace:
            data = Path(order.top, TRACE).read_bytes()
            trace = msgspec.json.decode(data, type=Trace) if data else Trace([], [])
            for name in trace.modules:
                importlib.import_module(name)  # the next life finds them loaded
            points = trace.points
        told = Told(os.waitstatus_to_exitcode(ended), tuple(points))
        sys.stdout.write(msgspec.json.encode(told).decode() + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
