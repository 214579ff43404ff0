"""`fencepost scenarios`: the scenarios for a target, and the requirements that each can prove."""

from __future__ import annotations

import json

from rich import box
from rich.table import Table

from fencepost.harness.backends import check_name
from fencepost.harness.checkers.owed import every_run
from fencepost.harness.cli.commands.scenarios import ScenariosOptions
from fencepost.harness.cli.options import chosen_target
from fencepost.harness.terminal import terminal
from fencepost.suites.scenarios import scenarios_for
from fencepost.suites.target_facts import TargetFacts


def scenarios(options: ScenariosOptions) -> None:
    """Print the scenarios as a table, or as JSON. UsageError for a target or a backend that does not exist."""
    check_name(options.backend)
    facts = TargetFacts.of(chosen_target(options.target, options.option))
    rows = []
    for scenario in sorted(scenarios_for(facts), key=lambda scenario: scenario.slug):
        proven = [each for each in scenario.plan(facts, 0).requirements if each not in every_run()]
        rows.append((scenario, scenario.unavailable_reason(facts, options.backend), proven))
    if options.as_json:
        listed = [
            {"scenario": scenario.slug, "title": scenario.title, "requirements": proven, "unavailable_reason": reason}
            for scenario, reason, proven in rows
        ]
        print(json.dumps(listed, indent=2))
        return
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("scenario", no_wrap=True)
    table.add_column("what it shows", ratio=3)
    table.add_column("requirements", ratio=2)
    for scenario, reason, proven in rows:
        title = f"[dim]{scenario.title} (skipped: {reason})[/dim]" if reason else scenario.title
        table.add_row(scenario.slug, title, " ".join(proven))
    terminal().print(table)
