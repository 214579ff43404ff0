"""`fencepost scenarios` and `fencepost plan`: the scenarios for a target; a plan, checked and printed."""

from __future__ import annotations

import difflib
import json
from pathlib import Path

from rich import box
from rich.table import Table

from fencepost.harness.backends import check_name
from fencepost.harness.checkers.owed import every_run
from fencepost.harness.cli.commands.scenarios import PlanOptions, ScenariosOptions
from fencepost.harness.cli.options import DEFAULT_TARGET, chosen_target
from fencepost.harness.engine.run import check_plan
from fencepost.harness.errors import UsageError
from fencepost.harness.plan import Plan, dump_plan, load_plan
from fencepost.harness.targets.registry import UnknownTarget, load_file, reference_of
from fencepost.harness.terminal import console_beside, terminal
from fencepost.suites.released_bugs.bugs import BY_SLUG
from fencepost.suites.scenarios import SCENARIOS, scenarios_for
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


PLAN_FILE = (".yaml", ".yml")


def plan(options: PlanOptions) -> None:
    """Print the plan as YAML. Raises UsageError as `plan_to_run` does, and where a run of a file would."""
    found = plan_to_run(options.source, options.target, options.seed)
    if options.source.endswith(PLAN_FILE):
        check_plan(found)
    print(dump_plan(found), end="")
    if options.source.endswith(PLAN_FILE):
        console_beside(True).print(f"{options.source} is right: `fencepost run` can run it on {found.target}")


def plan_to_run(source: str, target: str | None, seed: int) -> Plan:
    """Return the plan of a scenario for a target, or that of a file, for `target` in place of its own if it is named.

    UsageError if there is no such plan, or it is not for the target; PlanError with a line for each mistake of a file.
    """
    if not source.endswith(PLAN_FILE):
        return plan_of(source, target or DEFAULT_TARGET, seed)
    if not Path(source).exists():
        raise UsageError(f"there is no plan file {source}")
    plan = load_plan(Path(source))
    return _on_its_own(plan, source) if target is None else _on(plan, target)


def _on_its_own(plan: Plan, source: str) -> Plan:
    try:
        load_file(plan.target)
    except UnknownTarget as error:
        raise UsageError(f"{error}. The plan {source} names that one; --target TARGET runs it on another") from None
    return plan


def _on(plan: Plan, target: str) -> Plan:
    """Return the plan for a target. That which it names already, without a version, is no other."""
    name, _, version = reference_of(target).partition(":")
    versioned = ":" in target.rpartition("/")[2]
    if plan.target.partition(":")[0] == name and not versioned:
        return plan
    return plan.model_copy(update={"target": f"{name}:{version}"})


def plan_of(scenario: str, target: str, seed: int) -> Plan:
    """Return the plan of a scenario for a target. UsageError if it does not exist, fit the target or run here."""
    facts = TargetFacts.of(target)
    if scenario in BY_SLUG:
        return BY_SLUG[scenario].scenario.plan(facts, seed)
    known = {each.slug: each for each in scenarios_for(facts)}
    if scenario not in known:
        known_elsewhere = {each.slug: each for each in SCENARIOS}
        if scenario in known_elsewhere:
            if known_elsewhere[scenario].releases > len(facts.releases):
                example = "apache-kafka:3.9.2..4.4.0"
                raise UsageError(f"the scenario {scenario} needs a target with two releases, such as {example}")
            raise UsageError(f"the scenario {scenario} does not apply to {target}: see `fencepost scenarios {target}`")
        near = difflib.get_close_matches(scenario, known, n=1)
        hint = f"did you mean {near[0]}?" if near else "`fencepost scenarios` lists them"
        raise UsageError(f"there is no scenario {scenario!r}: {hint}")
    if reason := known[scenario].unavailable_reason(facts):
        raise UsageError(f"the scenario {scenario} cannot run here: {reason}")
    return known[scenario].plan(facts, seed)
