"""Mines the guidance of a campaign from a results store.

Of one target, the rows of `runs` and `faults` that are needed are read as Arrow tables, without Spark (decision 0060).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from fencepost.harness.campaign.combinations import Combination, Reached, reached, tried
from fencepost.harness.campaign.guidance import Failure, Guidance, counted
from fencepost.harness.plan.file import PlanError, parse_plan

if TYPE_CHECKING:
    from fencepost.results.store.store import Store

_CLIENTS, _EVERYWHERE = "workload:", "workload:acks=all"

_RUN = (
    "run_id",
    "campaign",
    "release",
    "features",
    "combinations",
    "planted_defect",
    "left_out",
    "verdict",
    "signature",
)
_FAULT = ("run_id", "fault", "kind", "role", "cluster_state", "ordered_s", "healed_s", "proven_s")


def learn(store: Store, target: str, release: str, planted_defect: str | None = None) -> Guidance:
    """Return what the runs in a store say of a target.

    Counted are random plans on this release. A run has a combination if its plan tried it or if it was reached.
    Failures are violations of any run of the target on any release, one for each signature, the one with the shortest
    plan. Of runs with a planted defect only those with this one count. Raise StoreError.
    """
    # Arrow takes part of a second to import: only a campaign that learns needs it.
    import pyarrow.compute as pc

    from fencepost.results.store.tables import FAULTS, PLANS, RUNS

    of_target = pc.field("target") == target
    runs = {
        row["run_id"]: row
        for row in store.read(RUNS, _RUN, of_target & (pc.field("source") == "fencepost")).to_pylist()
        if row["left_out"] in (None, "planted defect") and row["planted_defect"] in (None, planted_defect)
    }
    faults = defaultdict[str, list[Mapping[str, Any]]](list)
    for row in store.read(FAULTS, _FAULT, of_target).to_pylist():
        faults[row["run_id"]].append(row)
    random = [row for row in runs.values() if row["campaign"] is not None and row["release"] in (None, release)]
    plans = store.read(PLANS, ("run_id", "steps", "plan"), of_target & (pc.field("verdict") == "violation"))
    return Guidance(
        target=target,
        release=release,
        runs=len(random),
        counts=counted(_combinations(row, faults[row["run_id"]]) for row in random),
        failures=tuple(_failures(runs, plans.to_pylist())),
    )


def _combinations(run: Mapping[str, Any], faults: Iterable[Mapping[str, Any]]) -> frozenset[Combination]:
    """Return what a run tried, where its row tells it, and what it reached."""
    clients = [
        feature.removeprefix(_CLIENTS)
        for feature in run["features"] or ()
        if feature.startswith(_CLIENTS) and feature != _EVERYWHERE
    ]
    rows = defaultdict[str, list[Mapping[str, Any]]](list)
    for row in faults:
        rows[row["fault"]].append(row)
    met = [
        Reached(
            kind=hits[0]["kind"],
            roles=frozenset(hit["role"] for hit in hits if hit["role"] is not None),
            cluster=hits[0]["cluster_state"] or "unknown",
            begin=hits[0]["ordered_s"],
            end=math.inf if hits[0]["healed_s"] is None else hits[0]["healed_s"],
        )
        for hits in rows.values()
        if hits[0]["proven_s"] is not None
    ]
    return reached(met, clients) | frozenset(map(Combination.read, run["combinations"] or ()))


def _failures(runs: Mapping[str, Mapping[str, Any]], plans: Iterable[Mapping[str, Any]]) -> Iterable[Failure]:
    """Yield the shortest plan of each kind of violation, by signature. A plan that cannot be read any more is none."""
    seen = set[str]()
    for row in sorted(plans, key=lambda each: (each["steps"], each["run_id"])):
        run = runs.get(row["run_id"])
        if run is None or run["signature"] is None or run["signature"] in seen:
            continue
        try:
            combinations = tried(parse_plan(row["plan"], row["run_id"]))
        except PlanError:
            continue  # of another version of fencepost, or with a fault of another package
        seen.add(run["signature"])
        yield Failure(run["signature"], row["run_id"], combinations)
