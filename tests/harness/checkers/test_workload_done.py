"""Clients that did nothing show nothing."""

from __future__ import annotations

from typing import Any

from fencepost.harness.judge import judge
from fencepost.harness.plan.model import Plan
from fencepost.results.records.requirements import RequirementState
from fencepost.results.records.verdict import RunVerdict, Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan

OF_TRANSACTIONS = ("TXN-01", "TXN-02", "TXN-03", "TXN-04")


def transactional() -> Plan:
    producers = [{"name": "q", "topic": "t"}, {"name": "p", "topic": "t", "transactions": {"id": "x"}}]
    return plan(workload={"producers": producers}, requirements=OF_TRANSACTIONS)


def judged(builder: JournalBuilder, of: Plan) -> RunVerdict:
    return judge(of, builder.event("run", "r", "end").journal())


def begun() -> JournalBuilder:
    return JournalBuilder().event("run", "r", "begin").send("q-0", 0, process="q")


def states(verdict: RunVerdict) -> dict[str, RequirementState]:
    return {each.id: each.state for each in verdict.requirements if each.id in OF_TRANSACTIONS}


def test_transactions_that_the_target_does_not_support_are_never_a_pass() -> None:
    builder = begun().session().send("p-0", 1, transaction="tx-0")
    data: dict[str, Any] = {"process": "p", "transactional_id": "x", "f": "end-transaction"}
    data |= {"transaction": "tx-0", "action": "commit"}
    builder.event("op", "commit-tx-0", "invoke", data)
    builder.event("op", "commit-tx-0", "info", data | {"error": "_UNSUPPORTED_FEATURE", "code": -165})
    verdict = judged(builder.final((0, "q-0"), (1, "p-0"), end=3), transactional())
    assert verdict.verdict is Verdict.INCONCLUSIVE
    assert verdict.headline == "No transaction of p was committed, so no promise can be judged."
    assert "The target does not support end-transaction of p (_UNSUPPORTED_FEATURE)" in verdict.findings[-1].message
    not_covered, idle = RequirementState.NOT_COVERED, RequirementState.NOT_EXERCISED
    assert states(verdict) == {"TXN-01": not_covered, "TXN-02": idle, "TXN-03": not_covered, "TXN-04": idle}


def test_what_was_done_judges_no_rule_by_itself() -> None:
    builder = begun().session().send("p-0", 1, transaction="tx-0").ends("tx-0")
    verdict = judged(builder.final((0, "q-0"), (1, "p-0"), end=3), transactional())
    assert verdict.verdict is Verdict.PASS
    assert states(verdict)["TXN-01"] is states(verdict)["TXN-03"] is RequirementState.HELD
    done = {each.check: each for each in verdict.findings if each.check in ("produced", "committed")}
    assert [(each.evidence["done"], each.evidence["judged"]) for each in done.values()] == [(2, 0), (1, 0)]


def test_without_a_final_read_no_transaction_is_judged() -> None:
    builder = begun().session().send("p-0", 1, transaction="tx-0").ends("tx-0").poll((0, "q-0"), (1, "p-0"))
    found = states(judged(builder, transactional()))
    assert found["TXN-01"] is found["TXN-03"] is RequirementState.NOT_EXERCISED


def test_a_group_without_a_committed_offset_is_inconclusive() -> None:
    consumers = [{"name": "m", "topic": "t", "membership": {"group": "g"}}]
    of = plan(workload={"producers": [{"name": "q", "topic": "t"}], "consumers": consumers})
    assert judged(begun().final((0, "q-0")), of).headline.startswith("No offset of a group of m was committed")
    committed = begun().assigned("m", 0).commit("m", 1).committed(1).final((0, "q-0"))
    assert judged(committed, of).verdict is Verdict.PASS
