"""All figures about faults together: shown, as JSON, and as the tables of `faults/README.md`."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from tests.bench.faults import (
    DIRECT,
    LINKED,
    Figures,
    backends,
    faults_table,
    links_table,
    measure_faults,
    measure_links,
    measure_starts,
    shown,
)
from tests.bench.kept import Kept
from tests.bench.waits import Suite, suite_of
from tests.faults.readme import write

PLACE = "figures"


@dataclass(frozen=True)
class Page:
    """All figures of one measurement.

    `unmeasured` gives the reason for each backend that was left out; `load` is the mean number of runnable processes.
    """

    faults: Figures
    links: Mapping[str, Mapping[str, float]]
    starts: Mapping[str, float]
    unmeasured: Mapping[str, str]
    suite: Suite | None
    load: float

    def show(self, console: Console) -> None:
        console.print(shown(self.faults))
        console.print(self._rest(), highlight=False, markup=False)

    def figures(self) -> dict[str, Any]:
        """Return every figure, in seconds, as plain data."""
        return {
            "faults": {name: {on: asdict(each) for on, each in found.items()} for name, found in self.faults.items()},
            "links": {how: dict(found) for how, found in self.links.items()},
            "starts": dict(self.starts),
            "unmeasured": dict(self.unmeasured),
            "suite": None if self.suite is None else {**asdict(self.suite), "ratio": self.suite.ratio},
            "load": self.load,
        }

    def write(self) -> None:
        write(PLACE, f"\n{faults_table(self.faults)}\n{self._rest()}\n")

    def _rest(self) -> str:
        kernel = platform.release().partition("-")[0]  # the vendor's build number says nothing
        said = [
            f"Measured on {os.cpu_count()} cores ({platform.machine()}, kernel {kernel}) at a load of "
            f"{self.load:.1f}; times above a few milliseconds grow with the load."
        ]
        said += [f"Not measured on {backend}: {reason}." for backend, reason in self.unmeasured.items()]
        if self.links.get(DIRECT) and self.links.get(LINKED):
            said += ["What the links cost, on the reference cluster, medians:", links_table(self.links)]
        if self.starts:
            times = ", ".join(f"{seconds:.1f} s on {backend}" for backend, seconds in self.starts.items())
            said.append(f"Six nodes from the first process until they serve a topic, medians: {times}.")
        if self.suite is not None:
            said.append(
                f"A suite of {self.suite.scenarios} scenarios ({self.suite.target}) took {self.suite.wall:.0f} s, "
                f"{self.suite.ratio:.1f} times the longest chain of protocol waits in it "
                f"({self.suite.chain:.1f} s, `{self.suite.slowest}`)."
            )
        return "\n\n".join(each.strip() for each in said)


def measure_page(
    console: Console,
    times: int,
    seconds: float,
    only: tuple[Sequence[str], Sequence[str]],
    repeat: int,
    runs: Path | None,
    kept: Kept,
) -> Page:
    """`only` these faults and backends, or all that work here; links and starts where all faults are asked for."""
    faults_only, backends_only = only
    asked = {name: reason for name, reason in backends().items() if not backends_only or name in backends_only}
    names = [name for name, reason in asked.items() if reason is None]
    by_backend = {name: measure_faults(console, name, times, seconds, faults_only, kept) for name in names}
    faults: Figures = {}
    for backend, found in by_backend.items():
        for fault, lasted in found.items():
            faults.setdefault(fault, {})[backend] = lasted
    return Page(
        faults,
        {} if faults_only else measure_links(repeat),
        {} if faults_only else measure_starts(repeat, names),
        {name: reason for name, reason in asked.items() if reason is not None},
        None if runs is None else suite_of(runs),
        os.getloadavg()[1],
    )
