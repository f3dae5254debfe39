"""How many threads a local model should use: physical cores that this process may really use."""

from __future__ import annotations

import os

_TOPOLOGY = "/sys/devices/system/cpu/cpu{}/topology/{}"


def threads() -> int:
    """Physical cores within our affinity and cgroup quota; one is left for the commands that the agent runs."""
    cores = max(1, min(_cores(), _quota()))
    return cores - 1 if cores > 2 else cores


def _cores() -> int:
    try:
        allowed = os.sched_getaffinity(0)
    except AttributeError:  # macOS
        return os.cpu_count() or 1
    try:
        return len({(_number(cpu, "physical_package_id"), _number(cpu, "core_id")) for cpu in allowed})
    except (OSError, ValueError):
        return len(allowed)


def _number(cpu: int, name: str) -> int:
    with open(_TOPOLOGY.format(cpu, name), encoding="ascii") as file:
        return int(file.read())


def _quota() -> int:
    """Whole cores of the cgroup's quota: threads beyond it only stop each other."""
    try:
        with open("/sys/fs/cgroup/cpu.max", encoding="ascii") as file:
            quota, period = file.read().split()
        return max(1, int(quota) // int(period))
    except (OSError, ValueError):
        return os.cpu_count() or 1
