"""How long a suite takes, beside the longest chain of protocol waits in one of its scenarios.

No suite can be quicker than that chain: a lease has to run out, and what follows from it has to be seen. What is above
it is the start of clusters, faults, verdicts, and scenarios that waited for a processor.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fencepost.results.records.events import Event
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import read_journal

WAITS = ("await", "hold", "probe")
"""Steps in which a scenario does nothing but wait for the cluster to do, or not to do, something."""


@dataclass(frozen=True)
class Suite:
    """`wall`: seconds from the begin of the first run to the end of the last;

    `chain`: of the scenario that waits most.
    """

    target: str
    scenarios: int
    wall: float
    chain: float
    slowest: str

    @property
    def ratio(self) -> float:
        return self.wall / self.chain


def suite_of(runs: Path) -> Suite:
    """Return the suite that the runs in a folder belong to. Raises ValueError if no run came to its end."""
    chains: dict[str, float] = {}
    targets: set[str] = set()
    begun: list[float] = []
    ended: list[float] = []
    for path in sorted(runs.glob("*/journal.jsonl")):
        journal = read_journal(RunFolder(path.parent).journal)
        if not journal.finished or not journal.events:
            continue
        begun.append(journal.events[0].wall)
        ended.append(journal.events[-1].wall)
        scenario = str(journal.events[0].data.get("scenario", path.parent.name))
        targets.add(str(journal.events[0].data.get("target", "unknown")))
        chains[scenario] = max(chains.get(scenario, 0.0), waited(journal.of("step")))
    if not chains:
        raise ValueError(f"no run in {runs} came to its end")
    slowest = max(chains, key=chains.__getitem__)
    return Suite(", ".join(sorted(targets)), len(chains), max(ended) - min(begun), chains[slowest], slowest)


def waited(steps: Iterable[Event]) -> float:
    """Seconds in all steps that only wait, one after the other."""
    seconds, begun = 0.0, dict[str, float]()
    for step in steps:
        if step.phase == "begin" and step.data.get("do") in WAITS:
            begun[step.id] = step.t
        elif step.phase == "end" and step.id in begun:
            seconds += step.t - begun.pop(step.id)
    return seconds
