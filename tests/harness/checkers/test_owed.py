"""The rules that every run is judged by follow from the checkers, by design and by workload."""

from __future__ import annotations

import pytest

from fencepost.harness.checkers.owed import broken_by_loss, every_run, every_workload, judged_requirements
from fencepost.harness.plan.dialect import Dialect
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


def test_plans_list_the_guarantees_of_every_run_in_the_order_that_their_hashes_keep() -> None:
    every = (
        *(f"ACK-0{number}" for number in range(1, 9)),
        *(f"ISR-0{number}" for number in range(1, 4)),
        *("HW-01", "HW-03"),
        *(f"SEG-0{number}" for number in range(1, 6)),
        *("TOPIC-02", "TOPIC-03", "TOPIC-04", "LEAD-01"),
        *(f"CTRL-0{number}" for number in range(1, 5)),
        "LIVE-07",
    )
    assert every_run() == every_run(Dialect.KIP_631) == every_run(Dialect.ZOOKEEPER) == every
    assert every_run(Dialect.LEADER_DRIVEN) == tuple(rule for rule in every if not rule.startswith("CTRL-"))


def test_a_lost_record_breaks_rules_of_records_of_ends_and_of_logs() -> None:
    assert broken_by_loss() == ("ACK-02", "ACK-04", "ACK-06", "ACK-07", "HW-01", "HW-03", "SEG-01", "SEG-02")


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
