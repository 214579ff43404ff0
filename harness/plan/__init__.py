"""Plans: everything a run will do, written down before anything starts."""

from harness.plan.file import PlanError, dump_plan, load_plan
from harness.plan.hash import plan_hash
from harness.plan.model import Plan

__all__ = ["Plan", "PlanError", "dump_plan", "load_plan", "plan_hash"]
