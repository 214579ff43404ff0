"""Transactional producers and members of groups against the brokers that librdkafka simulates inside this process.

The simulation serves records of aborted transactions, and fences nothing: a cluster that breaks both promises.
"""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from fencepost.harness.clients.transactions import TransactionalProducer
from fencepost.harness.clients.workload import Workload
from fencepost.harness.judge import judge
from fencepost.harness.plan.model import Plan, ProducerSpec
from fencepost.results.records.journal import JournalWriter, read_journal
from fencepost.results.records.verdict import RunVerdict, Verdict
from tests.harness.checkers.plans import plan

WITHIN = 30.0


@pytest.fixture
def brokers() -> Iterator[str]:
    simulator = Producer({"test.mock.num.brokers": 3, "bootstrap.servers": "", "log_level": 0})
    metadata = simulator.list_topics(timeout=WITHIN)
    yield ",".join(f"{broker.host}:{broker.port}" for broker in metadata.brokers.values())
    simulator.flush(1)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WITHIN
    while not condition():
        assert time.monotonic() < deadline, "the workload made no progress"
        time.sleep(0.01)


def judged(scenario: Plan, brokers: str, path: Path, work: Callable[[Workload], None]) -> RunVerdict:
    with JournalWriter(path) as journal:
        journal.write("run", "r", "begin")
        workload = Workload(scenario, journal, lambda site: {"bootstrap.servers": brokers})
        workload.start()
        work(workload)
        assert workload.final_read(WITHIN).complete
        journal.write("run", "r", "end")
    return judge(scenario, read_journal(path))


def violated(verdict: RunVerdict) -> set[str | None]:
    return {finding.requirement for finding in verdict.findings if finding.verdict is Verdict.VIOLATION}


@pytest.mark.requirement("TXN-02", "TXN-04")
def test_a_cluster_that_serves_aborted_records_and_fences_nothing_is_found(brokers: str, tmp_path: Path) -> None:
    def producer(name: str, **more: object) -> dict[str, object]:
        transactions = {"id": "x", "records": 5, "abort_every": 2}
        return {"name": name, "topic": "t", "rate": 200, "transactions": transactions, **more}

    scenario = plan(
        topics=[{"name": "t", "assignments": [[4], [5]]}],
        workload={
            "producers": [producer("x1"), producer("x2", start="later")],
            "consumers": [{"name": "c1", "topic": "t"}],
        },
    )

    def work(workload: Workload) -> None:
        until(lambda: workload.acked(producer="x1") >= 20)
        assert workload.acked(producer="x2") == 0
        workload.start(["x2"])
        until(lambda: workload.acked(producer="x2") >= 10)
        before = workload.acked(producer="x1")
        until(lambda: workload.acked(producer="x1") > before)

    assert violated(judged(scenario, brokers, tmp_path / "j", work)) == {"TXN-02", "TXN-04"}


@pytest.mark.requirement("TXN-04")
def test_a_producer_that_sleeps_asks_for_a_commit_after_it_was_fenced(brokers: str, tmp_path: Path) -> None:
    """A real coordinator lets no request of the fenced producer pass before: without the sleep nothing is judged."""
    transactions = {"id": "x", "records": 5, "sleeps": True}
    first = {"name": "x1", "topic": "t", "rate": 200, "transactions": transactions}
    scenario = plan(
        topics=[{"name": "t", "assignments": [[4]]}],
        workload={"producers": [first, {**first, "name": "x2", "start": "later"}]},
    )

    def work(workload: Workload) -> None:
        until(lambda: workload.acked(producer="x1") >= 10)
        workload.start(["x2"])
        until(lambda: workload.acked(producer="x2") >= 10)

    judged(scenario, brokers, tmp_path / "j", work)
    ends = [
        e for e in read_journal(tmp_path / "j").of("op") if e.data.get("f") in ("end-transaction", "init-transactions")
    ]
    begun = next(e.t for e in ends if e.data["process"] == "x2" and e.phase == "ok")
    asked = [e for e in ends if e.data["process"] == "x1" and e.data.get("action") == "commit" and e.phase == "invoke"]
    started = next(e.t for e in ends if e.data["process"] == "x2" and e.phase == "invoke")
    assert not [e for e in asked if started + 0.1 < e.t < begun]
    assert next(e for e in asked if e.t > started).t > begun - 0.1


@pytest.mark.requirement("GRP-01")
def test_offsets_of_transactions_count_with_their_commit(brokers: str, tmp_path: Path) -> None:
    transactions = {"id": "x", "records": 5, "abort_every": 2, "group": "g"}
    scenario = plan(
        topics=[{"name": "t", "assignments": [[4]]}],
        workload={"producers": [{"name": "x1", "topic": "t", "rate": 200, "transactions": transactions}]},
    )
    verdict = judged(scenario, brokers, tmp_path / "j", lambda workload: until(lambda: workload.acked() >= 20))
    events = [event for event in read_journal(tmp_path / "j").of("op") if event.data.get("group") == "g"]
    committed = [e.data["offsets"] for e in events if e.data["f"] == "commit-offsets" and e.phase == "ok"]
    assert committed[:3] == [[["t", 0, 1]], [["t", 0, 3]], [["t", 0, 5]]], "those that are aborted do not count"
    [offsets] = [finding for finding in verdict.findings if finding.check == "group-offsets"]
    assert offsets.evidence["commits"] >= 4
    assert offsets.evidence["judged"] == 1


@pytest.mark.integration  # a group of the simulated brokers takes seconds to form
@pytest.mark.parametrize("strategy", ["range", "cooperative-sticky"])
def test_members_of_a_group_read_and_commit(strategy: str, brokers: str, tmp_path: Path) -> None:
    member = {"name": "g1", "topic": "t", "membership": {"group": "g", "strategy": strategy, "commit": "async"}}
    scenario = plan(
        topics=[{"name": "t", "assignments": [[4], [5]]}],
        workload={"producers": [{"name": "p1", "topic": "t", "in_flight": 1}], "consumers": [member]},
    )
    verdict = judged(scenario, brokers, tmp_path / "j", lambda workload: until(lambda: workload.read(group="g") >= 50))
    assert verdict.verdict is Verdict.PASS, verdict.headline
    [offsets] = [finding for finding in verdict.findings if finding.check == "group-offsets"]
    assert offsets.evidence["commits"] > 0
    member_events = [e for e in read_journal(tmp_path / "j").of("op") if e.data.get("process") == "g1"]
    begun = [(event.data["f"], event.data.get("error")) for event in member_events[:3]]
    unset = ("start-over", "the group has no offset")
    assert begun == [("assigned", None), unset, unset], "one assignment begins all partitions without an offset"


class SilentGroup:
    """A session whose group coordinator never answers, as the client library reports it."""

    delivered = True

    def __init__(self, *, hangs: bool) -> None:
        self.producer = self
        self._hangs = hangs

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *arguments: None

    def send_offsets_to_transaction(self, offsets: object, metadata: object, seconds: float) -> None:
        if self._hangs:
            threading.Event().wait()
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT, "no answer", False, True, False))


@pytest.mark.parametrize("hangs", [False, True])
def test_an_offset_that_is_not_taken_in_the_time_of_a_transaction_ends_the_session(
    tmp_path: Path, *, hangs: bool
) -> None:
    spec = ProducerSpec.model_validate(
        {"name": "x1", "topic": "t", "transactions": {"id": "x", "records": 1, "timeout_ms": 100, "group": "g"}}
    )
    stopped, sessions = threading.Event(), list[SilentGroup]()

    def open_session() -> SilentGroup:
        sessions.append(SilentGroup(hangs=hangs))
        if len(sessions) == 3:
            stopped.set()
        return sessions[-1]

    assert spec.transactions is not None
    with JournalWriter(tmp_path / "j") as journal:
        journal.write("run", "r", "begin")
        TransactionalProducer(
            spec,
            spec.transactions,
            1,
            cast("Any", open_session),
            journal,
            has_rival=lambda: False,
            rival_begun=lambda: False,
            open_group=cast("Any", lambda group: SilentGroup(hangs=hangs)),
            sleeper_is_awake=lambda: False,
        ).run(stopped)
    asked = [e for e in read_journal(tmp_path / "j").of("op") if e.data["f"] == "send-offsets"]
    assert [(e.phase, e.data.get("error")) for e in asked] == [("invoke", None), ("info", "_TIMED_OUT")] * 2
