"""The results of a suite or a campaign for the pages of a CI system: a summary in Markdown, and annotations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fencepost.harness.report.suite_history import PastRun, since
from fencepost.harness.report.suite_results import ScenarioResult, SuiteResult
from fencepost.results.pages.markdown import in_markdown
from fencepost.results.records.requirements import RequirementResult
from fencepost.results.records.verdict import Verdict

MARKS = {
    Verdict.PASS: "✅",
    Verdict.VIOLATION: "❌",
    Verdict.INFRASTRUCTURE: "⚠️",
    Verdict.INCONCLUSIVE: "❔",
}
MOST_PROBLEMS = 5
"""Findings of one scenario that are listed; its page has all."""
SLOWEST = 5


def markdown(suite: SuiteResult, past: Sequence[PastRun] | None = None) -> str:
    """Return the summary: each scenario that did not pass with its rules, since when, and how to repeat it.

    `past` has the earlier runs; None for scenarios that have no history.
    """
    return "\n".join((*_overview(suite), *(line for each in suite.failed for line in _failure(suite, each, past)), ""))


def github_annotations(suite: SuiteResult) -> Iterator[str]:
    """Yield one workflow command of GitHub for each scenario that did not pass, the worst first.

    GitHub shows only the first ten of a step. Format: Workflow commands for GitHub Actions, Setting an error message.
    """
    for scenario in suite.failed:
        verdict = (scenario.verdict or Verdict.INFRASTRUCTURE).value
        rules = " ".join(rule.id for rule in scenario.broken)
        title = f"{verdict}: {scenario.scenario}" + (f" ({rules})" if rules else "")
        lines = [scenario.headline or "the run left no verdict", *map(_rule, scenario.broken)]
        if scenario.replay is not None:
            lines.append(f"replay: {scenario.replay}")
        yield f"::error title={_escaped(title, ':,')}::{_escaped(chr(10).join(lines))}"


def _overview(suite: SuiteResult) -> Iterator[str]:
    part = f", shard {suite.shard}" if suite.shard else ""
    where = f"{suite.target} {suite.target_version}, {suite.backend}, seed {suite.seed}{part}"
    yield f"## {MARKS[suite.verdict]} fencepost: {suite.verdict.value} on {in_markdown(where)}"
    yield ""
    counts = [f"{number} {verdict.value}" for verdict, number in suite.counts().items() if number]
    if suite.skipped:
        counts.append(f"{len(suite.skipped)} skipped")
    yield f"{' · '.join([*counts, f'{suite.seconds / 60:.1f} min'])}"
    for defect, number in suite.planted_defects.items():
        yield f"\n**{number} with the planted defect `{defect}`**: no verdict about a real build."
    if suite.interrupted:
        yield "\n**The suite was interrupted**: the other scenarios did not run."
    if suite.verdict is Verdict.INCONCLUSIVE and not any(suite.counts().values()):
        yield "\nNo scenario was judged, so nothing is shown."
    differences = {name: each.scenario for each in suite.scenarios for name in each.differences}
    if differences:
        yield "\nListed differences that showed: " + ", ".join(sorted(differences))
    if suite.skipped:
        reasons = {each.skipped or "" for each in suite.skipped}
        yield f"\n<details><summary>{len(suite.skipped)} skipped</summary>\n"
        for reason in sorted(reasons):
            names = (f"`{each.scenario}`" for each in suite.skipped if each.skipped == reason)
            yield f"- {in_markdown(reason)}: {', '.join(names)}"
        yield "\n</details>"
    if slowest := suite.slowest(SLOWEST):
        shown = ", ".join(f"`{each.scenario}` {each.seconds:.1f} s" for each in slowest)
        yield f"\nSlowest: {shown}"


def _failure(suite: SuiteResult, scenario: ScenarioResult, past: Sequence[PastRun] | None) -> Iterator[str]:
    verdict = scenario.verdict or Verdict.INFRASTRUCTURE
    yield f"\n### {MARKS[verdict]} {verdict.value}: `{scenario.scenario}`"
    yield f"\n{in_markdown(scenario.title)}"
    yield f"\n> {in_markdown(scenario.headline or 'the run left no verdict')}\n"
    for rule in scenario.broken:
        yield f"- **{rule.id}**: {in_markdown(_rule(rule).partition(': ')[2])}"
    # The headline may have a prefix, such as the planted defect.
    others = [problem for problem in scenario.failures if problem.message not in (scenario.headline or "")]
    for problem in others[:MOST_PROBLEMS]:
        yield f"- {problem.rule or problem.check}: {in_markdown(problem.message)}"
    if len(others) > MOST_PROBLEMS:
        yield f"- and {len(others) - MOST_PROBLEMS} more on the page of the run"
    if past is not None:
        yield f"- since: {in_markdown(since(scenario, suite, past))}"
    if scenario.replay is not None:
        yield f"- replay: `{scenario.replay}`"
    if scenario.report is not None:
        yield f"- report: `{scenario.report}`"


def _rule(rule: RequirementResult) -> str:
    return f"{rule.id}: {rule.rule}"


def _escaped(text: str, also: str = "") -> str:
    """Return text as a workflow command has it: percent signs, line ends and the characters of `also` are encoded."""
    return "".join(f"%{ord(each):02X}" if each in f"%\r\n{also}" else each for each in text)
