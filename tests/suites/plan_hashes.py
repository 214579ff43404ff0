"""The hashes of all plans: of scenarios, of bugs of the gallery, and of the first random plans.

A change of how plans are written leaves them all as they are: a hash that differs is a plan that differs.
`python -m tests.suites.plan_hashes` writes the list anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fencepost.harness.campaign.planner import generate_for
from fencepost.harness.plan.hash import plan_hash
from fencepost.harness.targets.registry import load
from fencepost.suites.released_bugs.bugs import BUGS
from tests.suites.test_scenarios import TARGETS, scenarios_on

LIST = Path(__file__).with_name("plan_hashes.txt")
RANDOM_PLANS = range(1, 21)


def hashes(target: str) -> Iterator[str]:
    """Yield a line for each plan on a target: target, plan, the first 16 digits of its hash.

    Random plans are those of a machine that can do all that the target can.
    """
    facts, file = TARGETS[target], load(target).file
    for scenario in scenarios_on(target):
        yield _line(target, scenario.slug, plan_hash(scenario.plan(facts, seed=1)))
    if ".." not in target and file.dialect.shows_decisions:
        for seed in RANDOM_PLANS:
            plan = generate_for(file, target, seed, file.capabilities)
            yield _line(target, f"random-{seed}", plan_hash(plan))


def every_hash() -> Iterator[str]:
    """Yield the lines of all targets and of the gallery."""
    for target in TARGETS:
        yield from hashes(target)
    yield from hashes_of_the_gallery()


def hashes_of_the_gallery() -> Iterator[str]:
    """Yield a line for each bug: its affected release, its number, the first 16 digits of the hash."""
    for bug in BUGS:
        yield _line(bug.affected, bug.number, plan_hash(bug.plan(bug.affected)))


def _line(target: str, plan: str, digest: str) -> str:
    return f"{target} {plan} {digest[:16]}"


if __name__ == "__main__":
    LIST.write_text("\n".join(every_hash()) + "\n")
