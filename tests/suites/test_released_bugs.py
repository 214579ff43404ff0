"""Each bug of the gallery has a sound plan for both releases, and its page and its choice are right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fencepost.harness.catalogue import catalogue
from fencepost.harness.checkers.owed import judged_requirements
from fencepost.harness.cli.plan import plan_of
from fencepost.harness.cli.run_display import Series
from fencepost.harness.errors import HarnessError
from fencepost.harness.plan import Plan
from fencepost.harness.plan.checks import problems
from fencepost.harness.plan.file import dump_plan, load_plan, parse_plan
from fencepost.harness.plan.rehearsal import problems_to_run
from fencepost.harness.targets import registry
from fencepost.harness.targets.fitting import check_design
from fencepost.harness.terminal import terminal
from fencepost.results.records.verdict import Verdict
from fencepost.suites.released_bugs import gallery as galleries
from fencepost.suites.released_bugs.__main__ import choose, main
from fencepost.suites.released_bugs.bug import FOUND, OWN_PLAN, ReleasedBug
from fencepost.suites.released_bugs.bugs import BUGS
from fencepost.suites.released_bugs.gallery import SIDES, Gallery, SideResult, digest
from fencepost.suites.released_bugs.page import write_page
from fencepost.suites.scenarios import SCENARIOS

every_bug = pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.slug)


@every_bug
@pytest.mark.parametrize("side", SIDES)
def test_a_bug_has_a_sound_plan_for_both_releases(bug: ReleasedBug, side: str) -> None:
    target = getattr(bug, side)
    plan = bug.plan(target)
    loaded = registry.load(target)
    assert plan.target == target
    assert problems(plan) == []
    assert parse_plan(dump_plan(plan), "plan.yaml") == plan
    loaded.file.check_levels(plan)
    check_design(loaded.file, plan)
    assert plan.coverage
    assert bug.rule in plan.requirements and bug.rule in {row.id for row in catalogue()}
    assert plan_of(bug.slug, target, 1) == plan


@every_bug
def test_no_controller_of_a_bug_starts_later_since_such_a_one_is_no_voter(bug: ReleasedBug) -> None:
    controllers = [node for node in bug.plan(bug.affected).topology.nodes if "controller" in node.roles]
    assert all(node.start != "later" for node in controllers)


@every_bug
def test_a_bug_that_only_its_plan_finds_says_what_would_find_it_otherwise(bug: ReleasedBug) -> None:
    assert bug.generic is not bool(bug.wanted)
    assert not (bug.random_plan and bug.found_by != OWN_PLAN)
    assert bug.affected != bug.fixed
    assert bug.loses.endswith(".") and not bug.title.endswith(".")


@pytest.mark.parametrize("bug", [bug for bug in BUGS if bug.random_plan], ids=lambda bug: bug.slug)
def test_the_random_plan_that_found_a_bug_can_be_run_and_claims_its_rule(bug: ReleasedBug) -> None:
    assert bug.random_plan is not None
    plan = load_plan(bug.random_plan)
    assert plan.target == bug.affected
    assert plan.document == "Campaign"
    assert problems_to_run(plan) == []
    assert bug.rule in judged_requirements(plan, registry.load(plan.target).file.dialect)


def test_each_random_plan_is_of_a_bug() -> None:
    assert {file.stem for file in FOUND.iterdir()} <= {bug.slug for bug in BUGS}


def test_no_bug_has_the_name_of_another_or_of_a_scenario() -> None:
    slugs = [bug.slug for bug in BUGS]
    assert len({*slugs}) == len(slugs)
    assert not {*slugs} & {scenario.slug for scenario in SCENARIOS}


def test_a_flag_that_the_language_gained_is_no_change_of_a_plan_that_does_not_use_it() -> None:
    plan = BUGS[0].plan(BUGS[0].affected)
    steps: list[Any] = list(plan.steps)
    at = next(at for at, step in enumerate(steps) if hasattr(getattr(step, "expect", None), "optional"))

    def claiming(**changes: object) -> Plan:
        changed = steps[at].model_copy(update={"expect": steps[at].expect.model_copy(update=changes)})
        return plan.model_copy(update={"steps": (*steps[:at], changed, *steps[at + 1 :])})

    assert digest(claiming(optional=None)) == digest(claiming(optional=False)) == digest(plan)
    assert digest(claiming(optional=True)) != digest(plan)
    assert digest(claiming(requirement="ACK-01")) != digest(plan)


def test_bugs_are_chosen_by_number_and_by_kind() -> None:
    assert choose([]) == BUGS
    assert [bug.number for bug in choose(["14616", "kafka-14616"])] == ["KAFKA-14616"]
    assert {bug.kind for bug in choose(["administration"])} == {"administration"}
    with pytest.raises(ValueError, match="did you mean controllers"):
        choose(["controller"])
    assert main(["KAFKA-1"]) == 64


def _ended(bug: ReleasedBug, side: str, verdict: Verdict, *broken: str) -> SideResult:
    target = getattr(bug, side)
    return SideResult(target, digest(bug.plan(target)), "run", verdict, "A rule did not hold.", broken, 12.0)


def test_a_bug_shows_only_by_its_own_rule_and_only_on_the_affected_release() -> None:
    bug = BUGS[0]
    assert _ended(bug, "affected", Verdict.VIOLATION, "ISR-01", bug.rule).shows(bug, "affected")
    assert not _ended(bug, "affected", Verdict.VIOLATION, "ISR-01").shows(bug, "affected")
    assert not _ended(bug, "affected", Verdict.PASS).shows(bug, "affected")
    assert _ended(bug, "fixed", Verdict.PASS).shows(bug, "fixed")
    for verdict in (Verdict.VIOLATION, Verdict.INFRASTRUCTURE, Verdict.INCONCLUSIVE):
        assert not _ended(bug, "fixed", verdict).shows(bug, "fixed")


def test_a_gallery_goes_on_with_what_was_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third = BUGS[:3]
    asked: list[str] = []
    gallery = Gallery(tmp_path)
    for bug in (first, second):
        gallery.keep(bug, "affected", _ended(bug, "affected", Verdict.VIOLATION, bug.rule))
        gallery.keep(bug, "fixed", _ended(bug, "fixed", Verdict.PASS))
    gallery.keep(second, "fixed", _ended(second, "fixed", Verdict.INFRASTRUCTURE))

    def refuse(plan: object, *_: object, **__: object) -> None:
        asked.append(plan.target)  # type: ignore[attr-defined]
        raise HarnessError("this release cannot be had")

    monkeypatch.setattr(galleries, "run", refuse)
    again = Gallery(tmp_path)
    again.run([first, second, third], Series(terminal()))
    assert asked == [second.fixed, third.affected, third.fixed]
    assert again.shown(first) and not again.shown(second) and not again.shown(third)


def test_the_page_has_each_bug_with_its_headline_and_how_to_run_it(tmp_path: Path) -> None:
    bug = BUGS[0]
    gallery = Gallery(tmp_path)
    gallery.keep(bug, "affected", _ended(bug, "affected", Verdict.VIOLATION, bug.rule))
    gallery.keep(bug, "fixed", _ended(bug, "fixed", Verdict.PASS))
    page = write_page([bug], gallery, tmp_path / "gallery.md").read_text(encoding="utf-8")
    assert "did not show" not in page
    for part in (bug.title, bug.loses, bug.url, "> A rule did not hold.", f"fencepost run {bug.slug} --target"):
        assert part in page


def test_bugs_that_were_not_run_stay_on_the_page(tmp_path: Path) -> None:
    first, second, third = BUGS[:3]
    gallery, page = Gallery(tmp_path / "one"), tmp_path / "gallery.md"
    gallery.runs.mkdir()
    for bug in (first, second):
        gallery.keep(bug, "affected", _ended(bug, "affected", Verdict.VIOLATION, bug.rule))
        gallery.keep(bug, "fixed", _ended(bug, "fixed", Verdict.PASS))
        if bug.random_plan is not None:
            gallery.keep(bug, "random", _ended(bug, "affected", Verdict.VIOLATION, bug.rule))
    before = write_page([first, second], gallery, page).read_text(encoding="utf-8")
    assert write_page([first, second], Gallery(tmp_path / "none"), page).read_text(encoding="utf-8") == before
    gallery.keep(second, "fixed", _ended(second, "fixed", Verdict.VIOLATION))
    after = write_page([first, second, third], gallery, page).read_text(encoding="utf-8")
    assert f"## {first.number}" in after and f"## {second.number}" not in after
    assert f"[{third.number}]({third.url})" in after, "a bug that was never run is named as missing"
