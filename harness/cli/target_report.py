"""`fencepost doctor --target`: one broker of a target is started and asked, and held against its target file."""

from __future__ import annotations

import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fencepost.faults.capabilities import exit_in_words
from fencepost.harness.doctor.advice import Advice, advice
from fencepost.harness.doctor.broker import END_SECONDS, Answers, examine
from fencepost.harness.plan.needed_requests import needed_requests
from fencepost.harness.targets.registry import load_file
from fencepost.harness.terminal import console_beside, terminal
from fencepost.suites.scenarios import scenarios_for
from fencepost.suites.target_facts import TargetFacts

SHOWN_FILES = 6


@dataclass(frozen=True)
class TargetReport:
    """The answers of a broker, what they mean for the target file, and the scenarios that are left."""

    answers: Answers
    advice: list[Advice]
    scenarios: Mapping[str, str | None]
    """The reason why each cannot run; None for one that can."""
    seconds: float

    @property
    def fits(self) -> bool:
        return not any(each.wrong for each in self.advice)

    @property
    def data(self) -> dict[str, Any]:
        listed = [{"scenario": slug, "unavailable_reason": reason} for slug, reason in self.scenarios.items()]
        return {
            "target": self.answers.target,
            "seconds": self.seconds,
            "broker": asdict(self.answers),
            "scenarios": listed,
            "write": [asdict(each) for each in self.advice],
        }


def doctor(target: str, *, as_json: bool) -> int:
    """Print the report. Return 0 if the target file fits its broker, else 1.

    UsageError for a target that does not exist, InfrastructureError for a broker that does not start.
    """
    console_beside(as_json).print(f"starting a broker of {target} …", highlight=False)
    began = time.monotonic()
    answers = examined(target)
    report = reported(target, answers, time.monotonic() - began)
    if as_json:
        print(json.dumps(report.data, indent=2))
    else:
        show(report)
    return 0 if report.fits else 1


def examined(target: str) -> Answers:
    """Start a broker in a folder that is gone afterwards, and return its answers."""
    with tempfile.TemporaryDirectory(prefix="fencepost-doctor-") as scratch:
        return examine(target, Path(scratch))


def reported(target: str, answers: Answers, seconds: float) -> TargetReport:
    """Hold the answers against the target file."""
    facts = TargetFacts.of(target)
    needed = needed_by(facts)
    known = replace(facts, missing_requests=frozenset(needed.keys() - answers.offered.keys()))
    applying = sorted(scenarios_for(facts), key=lambda each: each.slug)
    reasons = {each.slug: each.unavailable_reason(known) for each in applying}
    return TargetReport(answers, advice(load_file(target), answers, needed), reasons, round(seconds, 1))


def needed_by(facts: TargetFacts) -> dict[str, str]:
    """Return the requests that the scenarios need which the target can have otherwise, each with what needs it."""
    served = replace(facts, missing_requests=frozenset())
    needed: dict[str, str] = {}
    for scenario in scenarios_for(served):
        if scenario.unavailable_reason(served) is None:
            for request, what in needed_requests(scenario.plan(served, 0), topics_by_use=served.topics_by_use):
                needed.setdefault(request, f"{what} of {scenario.slug}")
    return needed


def show(report: TargetReport) -> None:
    """Print the report on the terminal."""
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 3, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in _rows(report):
        table.add_row(name, text)
    for each in report.advice:
        colour = "red" if each.wrong else "yellow"
        text = Text(each.line, colour) if each.line else Text()
        why = f"\n{each.why}" if each.line else each.why
        table.add_row(Text("write" if each.line else "note", colour), text.append(why))
    table.add_row("", Text(f"{report.seconds:g} s in all; {_verdict(report)}", "dim"))
    terminal().print(Padding(table, (0, 2)))


def _verdict(report: TargetReport) -> str:
    return "the target file fits" if report.fits else "the target file does not fit its broker"


def _rows(report: TargetReport) -> list[tuple[str, Text]]:
    answers = report.answers
    listed = ", ".join(f"{id} at {place}" for id, place in answers.listed.items()) or "none"
    files = f"{len(answers.files)}: {', '.join(answers.files[:SHOWN_FILES])}" if answers.files else "none"
    more = ", …" if len(answers.files) > SHOWN_FILES else ""
    shape = " (segments as Apache Kafka has them)" if answers.has_segments else ""
    return [
        ("start", Text(f"{answers.node} answered after {answers.started:g} s")),
        ("ids", Text(f"it lists {listed}{_second(answers)}")),
        ("requests", Text(_requests(answers))),
        ("topics", Text(_administration(answers))),
        ("internal topics", Text(", ".join(answers.internal_topics) or "none")),
        ("coordinators", Text(_coordinators(answers))),
        ("files", Text(f"{files}{more}{shape}")),
        ("SIGTERM", Text(_end(answers))),
        ("scenarios", scenarios_left(report.scenarios)),
    ]


def _second(answers: Answers) -> str:
    if not answers.listed_by_second:
        return ""
    others = ", ".join(f"{id} at {place}" for id, place in answers.listed_by_second.items())
    return f"; a second broker lists {others}"


def _requests(answers: Answers) -> str:
    served = ", ".join(f"{name} {low}-{high}" for name, (low, high) in answers.offered.items())
    return f"{len(answers.offered)}: {served}"


def _administration(answers: Answers) -> str:
    if answers.creation is None:
        return "it has no CreateTopics"
    created = "created" if answers.creation == "none" else answers.creation
    if answers.creation_at_second is None:
        return f"CreateTopics: {created}"
    second = "created" if answers.creation_at_second == "none" else answers.creation_at_second
    both = {answers.creation, answers.creation_at_second}
    forwards = "each broker takes them" if both == {"none"} else "requests of administrators are the controller's"
    return f"CreateTopics: {created}; at a second broker: {second}" + (f" ({forwards})" if "none" in both else "")


def _coordinators(answers: Answers) -> str:
    named = (f"{kind} {'none' if id is None else id}" for kind, id in answers.coordinators.items())
    return ", ".join(named) or "it has no FindCoordinator"


def _end(answers: Answers) -> str:
    if answers.exit_code is None:
        return f"it still ran after {END_SECONDS:g} s"
    return f"{exit_in_words(answers.exit_code)} after {answers.ended:g} s"


def scenarios_left(reasons: Mapping[str, str | None]) -> Text:
    """Return the scenarios that are left, and the others by the reasons why not."""
    left = [slug for slug, reason in reasons.items() if reason is None]
    text = Text(f"{len(left)} of {len(reasons)} are left: {', '.join(left) or 'none'}")
    skipped: defaultdict[str, list[str]] = defaultdict(list)
    for slug, reason in reasons.items():
        if reason is not None:
            skipped[reason].append(slug)
    for reason, slugs in skipped.items():
        text.append(f"\nnot {', '.join(slugs)}: {reason}", "dim")
    return text
