"""Write a run into an Allure report: labels, the plan's steps with their times and outcomes, the run's small files.

Without `--alluredir` nothing is written. Everything that a report shows is attached, so it can be read on any machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import allure
import allure_commons
from allure_commons.model2 import Status, StatusDetails, TestResult, TestStepResult
from allure_commons.types import AttachmentType

from fencepost.harness.conformance.run_properties import own_requirements
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.prose import steps_in_words
from fencepost.results.records.events import CONVERGE, Event
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import read_journal
from fencepost.results.records.replay_command import replay_command
from fencepost.results.records.requirements import RequirementResult, RequirementState
from fencepost.results.records.verdict import Finding, RunVerdict, Verdict

EXCERPT_BYTES = 200_000
"""Larger texts are not attached: the run folder has them."""
REPORT_BYTES = 5_000_000
"""A larger report is not attached: it would make the Allure report too slow to open."""
MOST_TAGS = 3
"""Allure cuts the names of more tags in one row down to their first letter; the description has all rules."""
MILLISECONDS = 1000
END = "Heal what is left, wait until the cluster is whole, read everything"
_STATUSES = {
    Verdict.VIOLATION: Status.FAILED,
    Verdict.INFRASTRUCTURE: Status.BROKEN,
    Verdict.INCONCLUSIVE: Status.BROKEN,
}


def label(plan: Plan, section: str) -> None:
    """Write document, section and title of a scenario."""
    allure.dynamic.epic(plan.document)
    allure.dynamic.feature(section)
    allure.dynamic.story(plan.title)
    allure.dynamic.title(plan.title)
    parameters(plan)


def parameters(plan: Plan) -> None:
    """Write what the run depends on. The seed is no part of what makes a test the same test."""
    allure.dynamic.parameter("target", plan.target)
    allure.dynamic.parameter("seed", plan.seed, excluded=True)


def attach(plan: Plan, folder: RunFolder, verdict: RunVerdict) -> None:
    """Write the rules that the run judged, its steps, its report and its small files."""
    result = _current_test()
    if result is None:
        return
    rules = sorted(own_requirements(verdict), key=_weight)
    allure.dynamic.tag(*(each.id for each in rules[:MOST_TAGS]))
    idle = [f"Not exercised: {' '.join(verdict.not_exercised)}"] if verdict.not_exercised else []
    allure.dynamic.description("\n\n".join([verdict.headline, *map(_rule_line, rules), *idle]))
    for name, url in dict.fromkeys((each.document, each.url) for each in rules):
        if name is not None and url is not None:
            allure.dynamic.link(url, name=name)
    result.steps.extend(_steps(plan, folder, verdict))
    elsewhere = f"fencepost replay {folder.plan.name}   # elsewhere, with the attached plan"
    allure.attach(f"{replay_command(folder)}\n{elsewhere}\n", "replay", AttachmentType.TEXT)
    _attach(folder.report, "report", AttachmentType.HTML, REPORT_BYTES)
    for path, kind in ((folder.verdict, AttachmentType.JSON), (folder.plan, AttachmentType.YAML)):
        _attach(path, path.name, kind, EXCERPT_BYTES)


def _weight(rule: RequirementResult) -> tuple[bool, bool]:
    """Sort broken rules first, and those of a document before the guarantees that most scenarios prove, too."""
    return rule.state is not RequirementState.BROKEN, rule.url is None


def _rule_line(rule: RequirementResult) -> str:
    return f"**{rule.id}** {rule.state.value}: {rule.rule}"


def _attach(path: Path, name: str, kind: AttachmentType, most: int) -> None:
    if not path.is_file():
        return
    if (size := path.stat().st_size) <= most:
        allure.attach.file(str(path), name, kind)
    else:
        left_out = f"{path.name} of {size / 1e6:.1f} MB is in the run folder {path.parent.name}"
        allure.attach(left_out, f"{name} (left out)", AttachmentType.TEXT)


def _current_test() -> TestResult | None:
    """Return the result that Allure writes for the test that runs; None if it writes none."""
    for plugin in allure_commons.plugin_manager.get_plugins():
        if (logger := getattr(plugin, "allure_logger", None)) is not None:
            result: TestResult | None = logger.get_test(None)
            return result
    return None


def _steps(plan: Plan, folder: RunFolder, verdict: RunVerdict) -> Iterator[TestStepResult]:
    """Yield the steps that were begun, those that were not reached, and what judged the run as a whole."""
    journal = read_journal(folder.journal)
    titles = {**steps_in_words(plan), CONVERGE: END}
    claims = {plan.step_name(place) for place, step in enumerate(plan.steps) if getattr(step, "expect", None)}
    ends = {event.id: event for event in journal.of("step", "end")}
    of_steps: dict[str, list[Finding]] = {}
    for finding in verdict.findings:
        if finding.verdict is not Verdict.PASS and finding.part_of is None:
            of_steps.setdefault(_step_of(finding, titles), []).append(finding)
    reached: set[str] = set()
    for begun in journal.of("step", "begin"):
        reached.add(begun.id)
        step = _step(titles.get(begun.id, begun.id), begun, ends.get(begun.id), claims=begun.id in claims)
        yield _with_findings(step, of_steps.get(begun.id, []))
    last = journal.events[-1].wall if journal.events else 0.0
    for name in titles:
        if name not in reached:
            yield _leaf(titles[name], Status.SKIPPED, "not reached", last)
    for finding in of_steps.get("", []):
        at = last if finding.at is None else last - journal.duration + finding.at
        yield _leaf(f"Judge the run: {finding.title}", _STATUSES[finding.verdict], finding.message, at)


def _step_of(finding: Finding, titles: Iterable[str]) -> str:
    """Return the step that a finding is about; an empty text if it is about the whole run."""
    name = str(finding.evidence.get("step", ""))
    return name if name in titles else ""


def _step(title: str, begun: Event, ended: Event | None, *, claims: bool) -> TestStepResult:
    """Return a step without its findings. It is broken if it failed, or missed what it does not only claim."""
    step = TestStepResult(name=title, status=Status.PASSED, start=_milliseconds(begun.wall))
    step.stop = _milliseconds((ended or begun).wall)
    outcome = "failed" if ended is None else ended.data.get("outcome")
    if outcome == "failed" or (outcome == "missed" and not claims):
        step.status = Status.BROKEN
        step.statusDetails = StatusDetails(message="it did not end" if ended is None else ended.data.get("message"))
    return step


def _with_findings(step: TestStepResult, findings: list[Finding]) -> TestStepResult:
    if findings:
        worst = Verdict.worst(finding.verdict for finding in findings)
        message = "\n".join(finding.message for finding in findings if finding.verdict is worst)
        step.status, step.statusDetails = _STATUSES[worst], StatusDetails(message=message)
    return step


def _leaf(title: str, status: str, message: str, at: float) -> TestStepResult:
    when = _milliseconds(at)
    return TestStepResult(
        name=title, status=status, statusDetails=StatusDetails(message=message), start=when, stop=when
    )


def _milliseconds(wall: float) -> int:
    return round(wall * MILLISECONDS)
