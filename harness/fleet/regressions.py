"""Plans that found a violation on any release of a target, from a results store: a new release is tried with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fencepost.faults.capabilities import Capability
from fencepost.faults.registry import FAULTS
from fencepost.harness.campaign.learning import learn
from fencepost.harness.engine.run import check_plan
from fencepost.harness.errors import HarnessError
from fencepost.harness.plan import Plan
from fencepost.harness.plan.file import parse_plan
from fencepost.harness.plan.injects import InjectStep
from fencepost.results.store.store import Store


def regressions(
    store: Store,
    target: str,
    release: str,
    defect: str,
    lacks: Mapping[Capability, str],
    left_out: Callable[[str], None],
) -> list[Plan]:
    """Return the shortest plan of each kind of violation, for this release.

    `lacks`: what executors are not capable of, with the reasons. `left_out` gets a message about each plan that needs
    some of it, or does not fit the release. Raise StoreError.
    """
    import pyarrow.compute as pc

    from fencepost.results.store.tables import PLANS

    runs = [each.run for each in learn(store, target, release, defect or None).failures]
    rows = store.read(PLANS, ("run_id", "plan"), pc.field("run_id").isin(runs)).to_pylist()
    texts = {row["run_id"]: row["plan"] for row in rows}
    found: list[Plan] = []
    for run in runs:
        name = f"regression-{len(found) + 1}"
        plan = parse_plan(texts[run], run).model_copy(update={"target": f"{target}:{release}", "scenario": name})
        if (reason := _misfit(plan, lacks)) is not None:
            left_out(f"{plan.title}: {reason}")
        else:
            found.append(plan)
    return found


def _misfit(plan: Plan, lacks: Mapping[Capability, str]) -> str | None:
    try:
        check_plan(plan)
    except HarnessError as error:
        return str(error)
    needed = (FAULTS[step.fault].capability for step in plan.steps if isinstance(step, InjectStep))
    return next((lacks[each] for each in needed if each in lacks), None)
