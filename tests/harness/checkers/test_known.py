"""Every check that a finding can name is known, and has a rule of the catalogue or a text."""

from __future__ import annotations

import ast
import pkgutil
from importlib import import_module
from pathlib import Path

import fencepost.harness.checkers
from fencepost.harness import judge
from fencepost.harness.catalogue import describe
from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.known import CHECKS, OF_THE_RUN, checks_of
from fencepost.harness.plan.judged import JUDGED_IN_EVERY_RUN

MODULES = [
    judge,
    *(
        import_module(f"fencepost.harness.checkers.{each.name}")
        for each in pkgutil.iter_modules(fencepost.harness.checkers.__path__)
    ),
]


def test_every_checker_is_known_and_judges_a_rule_of_the_catalogue() -> None:
    defined = {each for module in MODULES for each in vars(module).values() if isinstance(each, Check)}
    assert defined == set(CHECKS)
    for check in CHECKS:
        assert describe(check.requirement) is not None, check


def test_every_check_that_is_named_in_the_code_has_a_text() -> None:
    named = set()
    for module in MODULES:
        for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Finding":
                named |= {
                    each.value.value
                    for each in node.keywords
                    if each.arg == "check" and isinstance(each.value, ast.Constant)
                }
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "_infrastructure":
                named |= {each.value for each in node.args[:1] if isinstance(each, ast.Constant)}
    assert named == set(OF_THE_RUN)


def test_every_rule_that_all_runs_are_judged_by_has_a_checker() -> None:
    assert {rule for rule in JUDGED_IN_EVERY_RUN if not list(checks_of(rule))} == set()
