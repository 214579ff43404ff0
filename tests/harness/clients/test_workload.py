"""The workload against the brokers that librdkafka simulates inside this process."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from harness.clients.workload import Workload
from harness.judge import judge
from harness.plan.model import Plan
from results.records.journal import Journal, JournalWriter, read_journal
from results.records.verdict import Verdict
from tests.harness.checkers.plans import plan

WITHIN = 20.0


@pytest.fixture
def brokers() -> Iterator[str]:
    """Bootstrap addresses of three simulated brokers."""
    simulator = Producer({"test.mock.num.brokers": 3, "bootstrap.servers": "", "log_level": 0})
    metadata = simulator.list_topics(timeout=WITHIN)
    yield ",".join(f"{broker.host}:{broker.port}" for broker in metadata.brokers.values())
    simulator.flush(1)


@pytest.fixture
def story() -> Plan:
    return plan(
        topics=[{"name": "t", "assignments": [[4], [5]]}],
        workload={
            "producers": [
                {"name": "p1", "topic": "t", "rate": 500},
                {"name": "p2", "topic": "t", "rate": 500, "idempotent": False, "size": 1000},
                {"name": "p3", "topic": "t", "rate": 100, "acks": 1},
            ],
            "consumers": [{"name": "c1", "topic": "t"}],
        },
    )


def await_acknowledged(workload: Workload, records: int, producer: str | None = None) -> None:
    deadline = time.monotonic() + WITHIN
    while workload.acked(producer=producer) < records:
        assert time.monotonic() < deadline, "the workload made no progress"
        time.sleep(0.01)


def run(story: Plan, brokers: str, path: Path) -> Journal:
    with JournalWriter(path) as journal:
        journal.write("run", "r", "begin")
        workload = Workload(story, journal, lambda site: brokers)
        workload.start()
        await_acknowledged(workload, 200)
        burst = workload.burst("burst", "t", 1, 10, "1", False, timeout=5.0)
        assert (burst.sent, burst.acknowledged, burst.failed, burst.unknown) == (10, 10, 0, 0)
        workload.stop(["p2"])
        await_acknowledged(workload, workload.acked(producer="p1") + 20, "p1")
        workload.start(["p2"])
        await_acknowledged(workload, workload.acked(producer="p2") + 20, "p2")
        result = workload.final_read(WITHIN)
        assert result.complete
        assert result.missing == 0
        assert result.records >= workload.acked()
        journal.write("run", "r", "end")
    return read_journal(path)


def test_a_workload_on_a_cluster_that_keeps_its_promises_is_judged_a_pass(
    story: Plan, brokers: str, tmp_path: Path
) -> None:
    journal = run(story, brokers, tmp_path / "journal.jsonl")
    verdict = judge(story, journal)
    assert verdict.verdict is Verdict.PASS, verdict.headline
    judged = {finding.check: finding.evidence.get("judged", 0) for finding in verdict.findings}
    assert judged["unseen"] >= 200
    assert judged["nonmonotonic-send"] > 50
    assert judged["nonmonotonic-poll"] > 200


def test_every_send_is_journalled_before_it_is_answered_and_every_value_is_unique(
    story: Plan, brokers: str, tmp_path: Path
) -> None:
    journal = run(story, brokers, tmp_path / "journal.jsonl")
    invoked: dict[str, int] = {}
    values = set()
    for event in journal.of("op"):
        if event.data["f"] == "send" and event.phase == "invoke":
            invoked[event.id] = event.seq
            values.add(event.data["value"])
        elif event.data["f"] == "send":
            assert invoked[event.id] < event.seq
    assert len(values) == len(invoked)


def test_when_nobody_answers_records_stay_unknown_and_stopping_ends(tmp_path: Path) -> None:
    story = plan(timing={"lease_ms": 200, "election_ms": 100})
    with JournalWriter(tmp_path / "journal.jsonl") as journal:
        workload = Workload(story, journal, lambda site: "127.0.0.1:1")
        burst = workload.burst("burst", "t", 0, 3, "all", False, timeout=0.5)
        assert (burst.acknowledged, burst.failed, burst.unknown) == (0, 0, 3)
        workload.start()
        workload.stop()
        result = workload.final_read(0.5)
        assert not result.complete
    outcomes = [event.phase for event in read_journal(tmp_path / "journal.jsonl").of("op")]
    assert "ok" not in outcomes
