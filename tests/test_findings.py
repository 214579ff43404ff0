"""The pages of new bugs: each has its plans beside it, and they can still be run."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.harness.plan import load_plan
from fencepost.harness.plan.rehearsal import problems_to_run
from fencepost.suites.target_facts import TargetFacts

FINDINGS = Path(__file__).parents[1] / "docs" / "findings"
PAGES = sorted(page for page in FINDINGS.glob("*.md") if page.name != "README.md")
PLANS = sorted(FINDINGS.glob("*.yaml"))


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_a_plan_beside_a_page_can_be_run(plan: Path) -> None:
    found = load_plan(plan)
    assert problems_to_run(found) == []
    assert TargetFacts.of(found.target)
    assert not found.deviations, "nothing is excused in a plan that is to show the bug"
    assert any(getattr(step, "expect", None) for step in found.steps)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_its_plan_a_shrunk_one_and_a_line_in_the_list(page: Path) -> None:
    number = page.name.partition("-")[0]
    names = {f"{number}-plan.yaml", f"{number}-shrunk.yaml"}
    assert names <= {plan.name for plan in PLANS}
    text = page.read_text(encoding="utf-8")
    assert all(f"]({name})" in text for name in names)
    assert f"]({page.name})" in (FINDINGS / "README.md").read_text(encoding="utf-8")
