"""Plans: everything a run will do, written down before anything starts."""

from fencepost.harness.plan.file import PlanError, dump_plan, load_plan
from fencepost.harness.plan.hash import plan_hash
from fencepost.harness.plan.model import Plan

__all__ = ["Plan", "PlanError", "dump_plan", "load_plan", "plan_hash"]
