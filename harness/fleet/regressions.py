"""Plans that found a violation on any release of a target, from a results store: a new release is tried with them."""

from __future__ import annotations

from collections.abc import Callable

from fencepost.harness.campaign.learning import learn
from fencepost.harness.engine.run import check_plan
from fencepost.harness.errors import HarnessError
from fencepost.harness.plan import Plan
from fencepost.harness.plan.file import parse_plan
from fencepost.results.store.store import Store


def regressions(store: Store, target: str, release: str, defect: str, left_out: Callable[[str], None]) -> list[Plan]:
    """Return the shortest plan of each kind of violation, for this release. `left_out` gets those that do not fit it.

    Raise StoreError.
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
        try:
            check_plan(plan)
        except HarnessError as error:
            left_out(f"{plan.title}: {error}")
        else:
            found.append(plan)
    return found
