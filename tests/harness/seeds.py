"""Seeds of campaigns, looked for by what their plans have: one that is named loses its meaning with each planner."""

from __future__ import annotations

from fencepost.harness.campaign.campaign import Order
from fencepost.harness.plan import dump_plan


def seed_of_a_plan_that_expects(answer: str, target: str) -> int:
    """Return the seed of the campaign whose first plan is the shortest, of a hundred, that expects this answer."""
    plans = {seed: Order(target, "process", seed, 60, 1).plan(1) for seed in range(100)}
    return min((seed for seed in plans if answer in dump_plan(plans[seed])), key=lambda seed: len(plans[seed].steps))
