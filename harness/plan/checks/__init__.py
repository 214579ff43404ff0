"""Checks of a plan that a schema cannot make: unknown names, names used twice, addresses that clash."""

from __future__ import annotations

from fencepost.harness.plan.checks.clients import client_problems, membership_problems
from fencepost.harness.plan.checks.problem import Problem
from fencepost.harness.plan.checks.steps import coverage_problems, step_problems
from fencepost.harness.plan.checks.topology import node_problems, setting_problems, topic_problems
from fencepost.harness.plan.model import Plan

__all__ = ["Problem", "problems"]


def problems(plan: Plan) -> list[Problem]:
    """Return all mistakes, in the order of the file."""
    return [
        *node_problems(plan),
        *setting_problems(plan),
        *topic_problems(plan),
        *client_problems(plan),
        *membership_problems(plan),
        *step_problems(plan),
        *coverage_problems(plan),
    ]
