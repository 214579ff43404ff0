"""The random plans of a results store by release: nights, plans, hours, what they covered and what they found."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fencepost.harness.campaign.combinations import ANY
from fencepost.results.store.store import Store

COLUMNS = (
    "target",
    "release",
    "date",
    "verdict",
    "started_at",
    "duration_s",
    "combinations",
    "signature",
    "headline",
    "planted_defect",
)


@dataclass(frozen=True)
class Found:
    """Violations with one signature, on one release. `headline` is that of the last."""

    signature: str
    runs: int
    first: dt.date
    last: dt.date
    headline: str


@dataclass(frozen=True)
class History:
    """The random plans on one release of a target."""

    target: str
    release: str
    nights: int
    """Days on which plans began."""
    first: dt.date
    last: dt.date
    plans: int
    hours: float
    """Hours that the plans took, one after the other."""
    verdicts: Mapping[str, int]
    combinations: int
    """Distinct combinations of fault or request, role, state and clients that the plans tried."""
    found: tuple[Found, ...]
    """The violations by signature, the earliest first."""

    def to_json(self) -> dict[str, Any]:
        found = [{**asdict(each), "first": f"{each.first}", "last": f"{each.last}"} for each in self.found]
        return {**asdict(self), "first": f"{self.first}", "last": f"{self.last}", "found": found}


def read_history(store: Store, target: str | None = None) -> list[History]:
    """Return the history of each release, by target and last day. Runs with a planted defect are not counted."""
    import pyarrow.compute as pc

    from fencepost.results.store.tables import RUNS

    random = (pc.field("source") == "fencepost") & pc.field("campaign").is_valid()
    where = random if target is None else random & (pc.field("target") == target)
    rows: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in store.read(RUNS, COLUMNS, where).to_pylist():
        if row["planted_defect"] is None:
            rows[row["target"], row["release"] or "unknown"].append(row)
    made = (_history(*key, of) for key, of in rows.items())
    return sorted(made, key=lambda each: (each.target, each.last, each.release))


def _history(target: str, release: str, rows: Sequence[Mapping[str, Any]]) -> History:
    days = {row["date"] for row in rows}
    verdicts: dict[str, int] = defaultdict(int)
    for row in rows:
        verdicts[row["verdict"]] += 1
    tried = {each for row in rows for each in row["combinations"] or () if f"| {ANY}" not in each}
    hours = sum(row["duration_s"] for row in rows) / 3600
    of_release = len(days), min(days), max(days), len(rows), round(hours, 2), dict(verdicts), len(tried)
    return History(target, release, *of_release, tuple(_found(rows)))


def _found(rows: Iterable[Mapping[str, Any]]) -> Iterable[Found]:
    by: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in sorted(rows, key=lambda each: each["started_at"]):
        if row["verdict"] == "violation" and row["signature"] is not None:
            by[row["signature"]].append(row)
    for signature, of in by.items():
        yield Found(signature, len(of), of[0]["date"], of[-1]["date"], of[-1]["headline"] or "")
