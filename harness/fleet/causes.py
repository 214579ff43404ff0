"""A distinct cause of violations, as the second queue of a fleet found it, in a file of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.reproduction.replaying import wilson
from fencepost.harness.reproduction.shrink.search import ShrinkResult
from fencepost.harness.reproduction.signature import FailureSignature
from fencepost.results.records.files import read_json, write_json
from fencepost.results.records.verdict import Verdict
from fencepost.results.store.store import Store

FORMAT = "fencepost-cause/1"


@dataclass(frozen=True)
class Sightings:
    """The first and the last run in a store that failed alike: days and releases."""

    first: str
    first_release: str
    last: str
    last_release: str
    runs: int


def sightings(store: Store, target: str, defect: str, campaign: str, scenarios: Iterable[str]) -> Sightings | None:
    """Return when runs of a target failed as these plans of a campaign did; None if the store has none of them."""
    import pyarrow.compute as pc

    from fencepost.results.store.tables import RUNS

    columns = ("campaign", "scenario", "signature", "planted_defect", "started_at", "release")
    rows = store.read(RUNS, columns, (pc.field("target") == target) & (pc.field("verdict") == "violation")).to_pylist()
    of = set(scenarios)
    kinds = {row["signature"] for row in rows if row["campaign"] == campaign and row["scenario"] in of}
    alike = [row for row in rows if row["signature"] in kinds and row["planted_defect"] == (defect or None)]
    if not alike:
        return None  # of damaged run folders, which are not published
    first, last = (end(alike, key=lambda row: row["started_at"]) for end in (min, max))
    days = (f"{each['started_at']:%Y-%m-%d}" for each in (first, last))
    return Sightings(next(days), first["release"], next(days), last["release"], len(alike))


@dataclass(frozen=True)
class Cause:
    """One cause. `name`: the plan that stands for it, of which `failed` of `runs` replays failed as before."""

    name: str
    signature: FailureSignature
    plans: tuple[str, ...]
    """The scenarios that failed by it."""
    failed: int
    runs: int
    seen: Sightings | None = None
    known_bugs: tuple[str, ...] = ()
    """Bugs that the target file lists of the rules that were broken."""
    smallest: str | None = None
    """The file of the shrunk plan; None if the plan failed too seldom for that."""
    faults: tuple[str, ...] = ()
    """The kinds of faults that the shrunk plan has."""
    dropped: tuple[str, ...] = ()
    complete: bool = False
    """Nothing more can be dropped; else the time was up."""
    bundle: str | None = None

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.failed, self.runs)

    def with_smallest(self, file: str, found: ShrinkResult) -> Cause:
        faults = tuple(step.fault for step in found.plan.steps if isinstance(step, InjectStep))
        return replace(self, smallest=file, faults=faults, dropped=found.dropped, complete=found.complete)

    def with_bundle(self, file: str) -> Cause:
        return replace(self, bundle=file)

    def to_json(self) -> dict[str, Any]:
        interval = [round(each, 4) for each in self.interval]
        return {"format": FORMAT, **asdict(self), "signature": self.signature.to_json(), "interval": interval}

    def save(self, folder: Path) -> None:
        write_json(folder / f"{self.name}.json", self.to_json())


def saved_cause(folder: Path, name: str) -> Cause | None:
    """Return the cause that a driver wrote before it was killed."""
    file = folder / f"{name}.json"
    if not file.is_file():
        return None
    written = read_json(file)
    for each in ("format", "interval"):
        del written[each]
    signature = FailureSignature(Verdict(written["signature"]["verdict"]), frozenset(written["signature"]["broken"]))
    seen = written["seen"]
    lists = {key: tuple(value) for key, value in written.items() if isinstance(value, list)}
    return Cause(**{**written, **lists, "signature": signature, "seen": seen and Sightings(**seen)})
