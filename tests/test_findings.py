"""The pages of new bugs: each has its plans beside it, and they can still be run; or it is in words only.

A page is in words only if its plan would lead other software into a state in which it crashes or hangs.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fencepost.harness.catalogue import describe
from fencepost.harness.plan import load_plan
from fencepost.harness.plan.rehearsal import problems_to_run
from fencepost.suites.target_facts import TargetFacts

FINDINGS = Path(__file__).parents[1] / "docs" / "findings"
PAGES = sorted(page for page in FINDINGS.glob("*.md") if page.name != "README.md")
IN_WORDS = {"06", "08", "10"}
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
    beside = {file.name for file in FINDINGS.glob(f"{number}-*") if file != page}
    text = page.read_text(encoding="utf-8")
    assert beside == (set() if number in IN_WORDS else names)
    assert all(f"]({name})" in text for name in beside)
    assert ("| plan | none beside this page" in text) is (number in IN_WORDS)
    assert f"]({page.name})" in (FINDINGS / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_names_cause_releases_and_rule_and_ends_in_a_report_for_upstream(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings[:2] == ["## What happens", "## Cause"]
    assert headings[-1] == "## Report"
    assert "<!-- releases -->" in text
    rules = re.search(r"\| rules? \| ([A-Z0-9-]+)", text)
    assert rules and describe(rules[1]) is not None
    report = text.partition("## Report")[2]
    assert all(f"**{part}**" in report for part in ("Summary", "Affects", "Description", "Expected", "Possible fix"))
