"""Every checker registers itself, in its file, and every check that a finding can name has a rule or a text."""

from __future__ import annotations

import ast
import pkgutil
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import fencepost.harness.checkers
from fencepost.harness import judge
from fencepost.harness.catalogue import describe
from fencepost.harness.checkers import registry
from fencepost.harness.checkers.check import Check, RunCheck, extent
from fencepost.harness.checkers.checker import Checker, LossRole, checker
from fencepost.harness.checkers.owed import every_run
from fencepost.results.records.verdict import Basis, Finding

MODULES = [
    judge,
    *(
        import_module(f"fencepost.harness.checkers.{each.name}")
        for each in pkgutil.iter_modules(fencepost.harness.checkers.__path__)
    ),
]


def test_every_check_has_a_checker_and_judges_a_rule_of_the_catalogue() -> None:
    parts = [part for module in MODULES for part in vars(module).values()]
    parts += [part for mapping in parts if isinstance(mapping, dict) for part in mapping.values()]
    defined = {part for part in parts if isinstance(part, Check)}
    assert defined == set(registry.checks())
    assert unknown_rules() == set()


def unknown_rules() -> set[str]:
    """Return the rules that checks name, and that no catalogue has."""
    return {rule for check in registry.checks() for rule in check.requirements if describe(rule) is None}


def test_every_finding_names_a_check_that_is_defined() -> None:
    for module in MODULES:
        for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Finding":
                [name] = [each.value for each in node.keywords if each.arg == "check"] or node.args[1:2]
                if module.__name__.endswith(".added"):
                    continue  # named by its reference, as it could not say its own name
                assert ast.unparse(name).endswith(".name"), f"{module.__name__}:{node.lineno}"


def test_every_check_of_a_run_has_a_name_of_its_own_and_a_text() -> None:
    defined = {each for module in MODULES for each in vars(module).values() if isinstance(each, RunCheck)}
    assert defined == set(registry.run_checks().values())
    names = [*(each.name for each in registry.checks()), *(each.name for each in defined)]
    assert {name for name in names if names.count(name) > 1} == {"one-controller"}, "of both kinds of controllers"
    assert all(each.says.endswith(".") for each in defined)


def test_every_rule_that_all_runs_are_judged_by_has_a_checker() -> None:
    judged = {rule for check in registry.checks() for rule in check.requirements}
    assert {rule for rule in every_run() if rule not in judged} == set()


def test_checkers_stand_in_the_order_of_their_ranks_and_those_of_others_after_the_records() -> None:
    def foreign(history: object) -> Finding:
        raise AssertionError

    ranks = [each.rank for each in registry.checkers_and([foreign])]
    assert ranks == sorted(ranks)
    assert [each.checks[0].name for each in registry.checkers()][:3] == ["unseen", "unread", "lost-write"]
    [added] = [each for each in registry.checkers_and([foreign]) if each not in registry.checkers()]
    assert (added.reads, added.judges_records) == (("history",), True)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"rests_on": ["op:sent"]}, "few names op:sent, a kind of event that no journal has: did you mean op:send"),
        ({"counts": ["state:partitions"]}, "few names state:partitions, .* did you mean state:partition"),
        ({"rests_on": ["fault:provoked"]}, "few names fault:provoked"),
        ({"needs": ["logs"]}, "few needs 'logs', which is no Need"),
    ],
)
def test_a_checker_that_names_what_no_run_has_is_refused(names: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        checker(Check("few", "Many", "ACK-01", Basis.PRESENCE), rank=1, **names)


def test_a_checker_without_a_check_is_refused() -> None:
    with pytest.raises(TypeError, match="names the checks"):
        checker(rank=1)


def test_a_check_of_a_rule_that_no_catalogue_has_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    @checker(Check("few", "Many", "ACME-01", Basis.PRESENCE, also=("ACK-01",)), rank=1)
    def unknown_rule(history: object) -> Finding:
        raise AssertionError

    monkeypatch.setattr(registry, "checkers", lambda: (unknown_rule,))
    registry.checks.cache_clear()
    try:
        assert unknown_rules() == {"ACME-01"}
    finally:
        registry.checks.cache_clear()


@pytest.fixture
def define(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[object], None]]:
    """Return a function that makes a checker the only one of the registry."""

    def only(defined: object) -> None:
        assert isinstance(defined, Checker)
        monkeypatch.setattr(registry, "_modules", lambda: iter([import_module(__name__)]))
        monkeypatch.setitem(globals(), "DEFINED", defined)
        registry.checkers.cache_clear()

    yield only
    registry.checkers.cache_clear()


def test_a_checker_that_reads_what_no_run_has_is_refused(define: Callable[[object], None]) -> None:
    @checker(Check("few", "Many", "ACME-01", Basis.PRESENCE), rank=1)
    def misspelt(histories: object) -> Finding:
        raise AssertionError

    define(misspelt)
    with pytest.raises(TypeError, match="test_registry: a recorded run has no part histories"):
        registry.checkers()


FEW = Check("few", "Many", "ACME-01", Basis.PRESENCE)


def with_extent() -> Finding:
    return FEW.broken(1, "Few.", ("offset",), [(7,)], at=1.0, extent=extent([(("t", 0), 7)]))


def test_a_checker_whose_rule_a_loss_breaks_says_the_offsets_or_is_refused(define: Callable[[object], None]) -> None:
    @checker(FEW, rank=1, loss=LossRole.PART)
    def without(history: object) -> Finding:
        return FEW.broken(1, "Few.", ("offset",), [(7,)], at=1.0)

    @checker(FEW, rank=1, loss=LossRole.PART)
    def by_a_function_that_it_calls(history: object) -> Finding:
        return with_extent()

    define(without)
    with pytest.raises(TypeError, match="test_registry: a loss breaks the rule of few, whose findings have no extent"):
        registry.checkers()
    define(by_a_function_that_it_calls)
    assert registry.checkers() == (by_a_function_that_it_calls,)
