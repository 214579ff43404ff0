"""The rules that every run is judged by follow from the checkers, by design and by workload."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fencepost.harness.checkers import owed
from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.checker import Checker, LossRole, Need, checker
from fencepost.harness.checkers.owed import broken_by_loss, every_run, every_workload, judged_requirements
from fencepost.harness.plan.dialect import Dialect
from fencepost.results.records.verdict import Basis
from tests import plan_words
from tests.harness.checkers.plans import plan


def test_a_plan_is_judged_by_its_claims_and_by_what_every_run_of_its_design_is_judged_by() -> None:
    deviations = [
        {"difference": "LF-01", "requirement": "HW-02", "level": "may"},
        {"difference": "LF-01", "requirement": "HW-04", "level": "must"},
    ]
    made = plan(deviations=deviations, requirements=("K631-57",))
    judged = judged_requirements(made, Dialect.KIP_631)
    assert {"ACK-01", "CTRL-01", "HW-04"} <= judged
    assert not judged & {"K631-57", "HW-02", "INT-01"}, "named or allowed is not judged"
    assert "DINT-04" in judged_requirements(made, Dialect.ZOOKEEPER)
    assert "CTRL-01" not in judged_requirements(made, Dialect.LEADER_DRIVEN)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Return a function that registers a checker of a rule in place of those that there are."""
    registry: list[Checker[Any, Any]] = []

    def register(rule: str, **registration: Any) -> None:
        check = Check(rule, rule, rule, Basis.PRESENCE)
        registry.append(checker(check, rank=len(registry), **registration)(lambda history: check.held(1, "Held.")))

    def clear() -> None:
        for function in (owed._owed, every_run, broken_by_loss):
            function.cache_clear()

    monkeypatch.setattr(owed, "checkers", lambda: registry)
    clear()
    yield register
    clear()


def test_plans_list_the_guarantees_of_every_run_in_the_order_that_their_hashes_keep(
    registered: Callable[..., None],
) -> None:
    registered("UPG-01", every_run=True)
    registered("LIVE-07", every_run=True)
    registered("CTRL-01", every_run=True, needs=[Need.QUORUM])
    registered("CTRL-01", every_run=True, needs=[Need.ZOOKEEPER])
    registered("SEG-01", every_run=True, needs=[Need.LOGS])
    registered("TXN-01", every_run=True, needs=[Need.TRANSACTIONS])
    registered("INT-01", every_run=True)
    registered("HW-02")
    registered("ACK-02", every_run=True)
    registered("ACK-01", every_run=True)
    assert every_run() == ("ACK-01", "ACK-02", "SEG-01", "CTRL-01", "LIVE-07", "UPG-01")
    assert every_run(Dialect.KIP_631) == every_run(Dialect.ZOOKEEPER) == every_run()
    assert every_run(Dialect.LEADER_DRIVEN) == ("ACK-01", "ACK-02", "SEG-01", "LIVE-07", "UPG-01")


def test_the_table_of_the_rules_of_every_run_is_that_of_their_checkers() -> None:
    page = plan_words.RULES_PAGE.read_text(encoding="utf-8")
    assert every_run()
    assert plan_words.with_rules(page) == page, "write it anew: python -m tests.plan_words"


def test_a_lost_record_breaks_the_rules_whose_checkers_say_so(registered: Callable[..., None]) -> None:
    registered("SEG-01", loss=LossRole.LEAD)
    registered("HW-03", loss=LossRole.PART)
    registered("ACK-05", every_run=True)
    registered("ACK-01", loss=LossRole.LEAD)
    assert broken_by_loss() == ("HW-03", "SEG-01")


TRANSACTIONS = ("TXN-01", "TXN-02", "TXN-03", "TXN-04")
GROUPS = ("GRP-01", "GRP-02")


@pytest.mark.parametrize(
    ("producer", "consumer", "rules"),
    [
        ({}, {}, ()),
        ({"transactions": {"records": 2}}, {}, TRANSACTIONS),
        ({}, {"membership": {"group": "g"}}, GROUPS),
        ({"transactions": {"records": 2, "group": "g"}}, {}, (*TRANSACTIONS, *GROUPS)),
    ],
)
def test_a_workload_owes_the_rules_of_its_clients(
    producer: dict[str, object], consumer: dict[str, object], rules: tuple[str, ...]
) -> None:
    workload = {
        "producers": [{"name": "p", "topic": "t", **producer}],
        "consumers": [{"name": "c", "topic": "t", **consumer}],
    }
    assert every_workload(plan(workload=workload).workload) == rules
