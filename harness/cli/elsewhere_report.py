"""`fencepost doctor --target` for a cluster that runs elsewhere: metadata of it, and the scenarios that are left."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fencepost.harness.cli.target_report import needed_by, scenarios_left
from fencepost.harness.doctor.elsewhere import AnswersElsewhere, ask
from fencepost.harness.targets.elsewhere import Elsewhere
from fencepost.harness.terminal import terminal
from fencepost.suites.scenarios import scenarios_for
from fencepost.suites.target_facts import TargetFacts


def doctor_elsewhere(target: Elsewhere, reference: str, *, as_json: bool) -> int:
    """Print the report. Return 0 if the target file fits its cluster, 1 if it lists too few `missing_requests`.

    UsageError without the consent of its owner: nothing is sent then. InfrastructureError for another cluster, for
    other brokers than the file lists, and for one that does not answer.
    """
    answers = ask(target)
    facts = TargetFacts.of(reference)
    lacks = sorted(needed_by(facts).keys() - answers.offered.keys())
    known = replace(facts, missing_requests=facts.missing_requests | frozenset(lacks))
    reasons = {each.slug: each.unavailable_reason(known) for each in scenarios_for(facts)}
    wrong = [name for name in lacks if name not in facts.missing_requests]
    write = f"missing_requests: [{', '.join(lacks)}]" if wrong else ""
    if as_json:
        listed = [{"scenario": slug, "unavailable_reason": reason} for slug, reason in sorted(reasons.items())]
        print(json.dumps({**asdict(answers), "scenarios": listed, "write": write}, indent=2))
    else:
        terminal().print(Padding(_table(answers, dict(sorted(reasons.items())), write), (0, 2)))
    return 1 if wrong else 0


def _table(answers: AnswersElsewhere, reasons: dict[str, str | None], write: str) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 3, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    versions = ", ".join(f"{name} {low}-{high}" for name, (low, high) in answers.offered.items())
    rows: list[tuple[str, Any]] = [
        ("cluster", Text(answers.cluster_id)),
        ("ids", Text(", ".join(f"{id_} at {place}" for id_, place in answers.listed.items()))),
        ("requests", Text(f"{len(answers.offered)}: {versions}")),
        ("scenarios", scenarios_left(reasons)),
    ]
    for row in [*rows, *([("write", Text(write, "red"))] if write else [])]:
        table.add_row(*row)
    return table
