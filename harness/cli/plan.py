"""`fencepost plan`: the plan of a scenario, printed before anything starts."""

from __future__ import annotations

import difflib

from fencepost.harness.errors import UsageError
from fencepost.harness.plan import Plan, dump_plan
from fencepost.suites.released_bugs.bugs import BY_SLUG
from fencepost.suites.scenarios import SCENARIOS, scenarios_for
from fencepost.suites.target_facts import TargetFacts


def plan(scenario: str, target: str, seed: int) -> None:
    """Print the plan as YAML. Raises UsageError as `plan_of` does."""
    print(dump_plan(plan_of(scenario, target, seed)), end="")


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
