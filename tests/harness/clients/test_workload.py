"""The workload against the brokers that librdkafka simulates inside this process."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, KafkaException, Message, Producer, TopicPartition

from fencepost.harness.clients import membership, sending
from fencepost.harness.clients.settings import ClientSettings
from fencepost.harness.clients.workload import Workload
from fencepost.harness.judge import judge
from fencepost.harness.plan.model import Plan
from fencepost.results.records.journal import Journal, JournalWriter, read_journal
from fencepost.results.records.verdict import Verdict
from tests.harness.checkers.plans import plan

WITHIN = 20.0


def unreachable(site: str) -> ClientSettings:
    return {"bootstrap.servers": "127.0.0.1:1"}


@pytest.fixture
def brokers() -> Iterator[str]:
    """Bootstrap addresses of three simulated brokers."""
    simulator = Producer({"test.mock.num.brokers": 3, "bootstrap.servers": "", "log_level": 0})
    metadata = simulator.list_topics(timeout=WITHIN)
    yield ",".join(f"{broker.host}:{broker.port}" for broker in metadata.brokers.values())
    simulator.flush(1)


@pytest.fixture
def scenario() -> Plan:
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


def run(scenario: Plan, brokers: str, path: Path) -> Journal:
    with JournalWriter(path) as journal:
        journal.write("run", "r", "begin")
        workload = Workload(scenario, journal, lambda site: {"bootstrap.servers": brokers})
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
    scenario: Plan, brokers: str, tmp_path: Path
) -> None:
    journal = run(scenario, brokers, tmp_path / "journal.jsonl")
    verdict = judge(scenario, journal)
    assert verdict.verdict is Verdict.PASS, verdict.headline
    judged = {finding.check: finding.evidence.get("judged", 0) for finding in verdict.findings}
    assert judged["unseen"] >= 200
    assert judged["nonmonotonic-send"] > 50
    assert judged["nonmonotonic-poll"] > 200


def test_every_send_is_journalled_before_it_is_answered_and_every_value_is_unique(
    scenario: Plan, brokers: str, tmp_path: Path
) -> None:
    journal = run(scenario, brokers, tmp_path / "journal.jsonl")
    invoked: dict[str, int] = {}
    values = set()
    for event in journal.of("op"):
        if event.data["f"] == "send" and event.phase == "invoke":
            invoked[event.id] = event.seq
            values.add(event.data["value"])
        elif event.data["f"] == "send":
            assert invoked[event.id] < event.seq
    assert len(values) == len(invoked)


def test_without_an_answer_records_stay_unknown_and_stopping_ends(tmp_path: Path) -> None:
    scenario = plan(timing={"lease_ms": 200, "election_ms": 100})
    with JournalWriter(tmp_path / "journal.jsonl") as journal:
        workload = Workload(scenario, journal, unreachable)
        burst = workload.burst("burst", "t", 0, 3, "all", False, timeout=0.5)
        assert (burst.acknowledged, burst.failed, burst.unknown) == (0, 0, 3)
        workload.start()
        workload.stop()
        result = workload.final_read(0.5)
        assert not result.complete
    outcomes = [event.phase for event in read_journal(tmp_path / "journal.jsonl").of("op")]
    assert "ok" not in outcomes


class DesynchronisedProducer:
    """A producer of the client library that a fatal error ended: each record is refused."""

    def __init__(self, settings: object) -> None:
        pass

    def produce(self, *_: object, **__: object) -> None:
        raise KafkaException(KafkaError(KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER, "desynchronised", fatal=True))

    def poll(self, timeout: float) -> int:
        return 0

    def flush(self, timeout: float) -> int:
        return 0


class BrokenProducer(DesynchronisedProducer):
    def produce(self, *_: object, **__: object) -> None:
        raise KafkaException(KafkaError(KafkaError._INVALID_ARG, "a defect of ours"))


class ForgetfulProducer(DesynchronisedProducer):
    """A producer of the client library that asked brokers which do not know the topic yet."""

    def produce(self, *_: object, **__: object) -> None:
        raise KafkaException(KafkaError(KafkaError._UNKNOWN_TOPIC))


class SilentConsumer:
    """A consumer of the client library that gets a record, and whose commits and whose close never return."""

    commits = threading.Event()

    def __init__(self, settings: object) -> None:
        self._never = threading.Event()

    def subscribe(self, _: object, on_assign: Callable[..., None], **__: object) -> None:
        on_assign(self, [TopicPartition("t", 0)])

    def consume(self, *_: object) -> list[Message]:
        return [Message(topic="t", partition=0, offset=0, value=b"p-0 ", timestamp=(1, 0))]

    def committed(self, *_: object, **__: object) -> list[TopicPartition]:
        return [TopicPartition("t", 0, 0)]

    def commit(self, **_: object) -> None:
        self.commits.set()
        self._never.wait()

    def close(self) -> None:
        self._never.wait()


class FencedConsumer:
    """A consumer whose first instance gets a fatal error, and whose second one gets a record."""

    instances = 0

    def __init__(self, settings: object) -> None:
        type(self).instances += 1
        self._first = type(self).instances == 1

    def subscribe(self, _: object, on_assign: Callable[..., None], **__: object) -> None:
        on_assign(self, [TopicPartition("t", 0)])

    def consume(self, *_: object) -> list[Message]:
        if self._first:
            return [Message(error=KafkaError(KafkaError._FATAL, "fenced by another member of its name"))]
        return [Message(topic="t", partition=0, offset=0, value=b"p-0 ", timestamp=(1, 0))]

    def committed(self, *_: object, **__: object) -> list[TopicPartition]:
        return [TopicPartition("t", 0, 0)]

    def commit(self, **_: object) -> list[TopicPartition]:
        return [TopicPartition("t", 0, 1)]

    def close(self) -> None:
        pass


def test_a_member_that_a_fatal_error_ends_is_started_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(membership, "Consumer", FencedConsumer)
    members = [{"name": "m", "topic": "t", "membership": {"group": "g", "commit": "sync", "static": True}}]
    with JournalWriter(tmp_path / "journal.jsonl") as journal:
        workload = Workload(plan(workload={"consumers": members}), journal, unreachable)
        workload.start()
        deadline = time.monotonic() + WITHIN
        while not workload.read(group="g"):
            assert time.monotonic() < deadline, "no member was started again"
            time.sleep(0.01)
        workload.stop()
    [note] = read_journal(tmp_path / "journal.jsonl").of("note")
    assert (note.data["what"], note.data["client"]) == ("client-restarted", "m")


def test_a_record_of_a_topic_that_the_brokers_do_not_know_yet_is_refused_and_the_producer_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sending, "Producer", ForgetfulProducer)
    with JournalWriter(tmp_path / "journal.jsonl") as journal:
        workload = Workload(plan(), journal, unreachable)
        workload.start()
        workload.stop()
        burst = workload.burst("burst", "t", 0, 3, "all", False, timeout=0.5)
        assert (burst.sent, burst.acknowledged) == (3, 0)
    assert list(read_journal(tmp_path / "journal.jsonl").of("note")) == []


def test_a_commit_of_the_client_library_that_never_returns_ends_its_member(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(membership, "Consumer", SilentConsumer)
    monkeypatch.setattr(membership, "COMMIT_SECONDS", 0.2)

    members = [{"name": "m", "topic": "t", "membership": {"group": "g", "commit": "sync"}}]
    with JournalWriter(tmp_path / "journal.jsonl") as journal:
        workload = Workload(plan(workload={"consumers": members}), journal, unreachable)
        workload.start()
        assert SilentConsumer.commits.wait(WITHIN)
        workload.stop()
    [note] = read_journal(tmp_path / "journal.jsonl").of("note")
    assert note.data["what"] == "hangs"
    assert "SilentConsumer.commit() of m has not returned" in note.data["message"]


def test_a_fatal_error_of_the_client_library_is_journalled_as_that_of_its_client(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sending, "Producer", DesynchronisedProducer)
    with JournalWriter(tmp_path / "journal.jsonl") as journal:
        workload = Workload(plan(), journal, unreachable)
        workload.start()
        workload.stop()
        burst = workload.burst("burst", "t", 0, 3, "all", True, timeout=0.5)
        assert (burst.sent, burst.unknown) == (1, 1)
    notes = [event.data for event in read_journal(tmp_path / "journal.jsonl").of("note")]
    ended = {"what": "client-ended", "error": "OUT_OF_ORDER_SEQUENCE_NUMBER", "message": "desynchronised"}
    assert notes == [ended | {"client": "p"}, ended | {"client": "burst"}]


def test_any_other_error_of_a_client_is_a_failure_of_the_harness(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sending, "Producer", BrokenProducer)
    with JournalWriter(tmp_path / "journal.jsonl") as journal:
        workload = Workload(plan(), journal, unreachable)
        workload.start()
        workload.stop()
        with pytest.raises(KafkaException):
            workload.burst("burst", "t", 0, 3, "all", True, timeout=0.5)
    [note] = read_journal(tmp_path / "journal.jsonl").of("note")
    assert note.data["what"] == "infrastructure"
    assert "a defect of ours" in note.data["message"]


def test_the_final_read_reads_what_steps_created_and_is_there(brokers: str, tmp_path: Path) -> None:
    creating = [
        {"do": "probe", "request": "create-topic", "as": f"create-{name}", "node": "node-4", "topic": name}
        for name in ("made", "back", "never")
    ]
    deleting = {"do": "probe", "request": "delete-topic", "as": "delete", "node": "node-4", "topic": "back"}
    changing = plan(topics=[{"name": "t", "assignments": [[4]]}], steps=[*creating, deleting])
    with JournalWriter(tmp_path / "journal.jsonl") as journal:
        journal.write("run", "r", "begin")
        workload = Workload(changing, journal, lambda site: {"bootstrap.servers": brokers})
        for topic, acks in (("t", "1"), ("made", "all"), ("back", "all")):
            assert workload.burst(f"burst-{topic}", topic, 0, 5, acks, False, timeout=5.0).acknowledged == 5
        result = workload.final_read(WITHIN)
        journal.write("run", "r", "end")
    assert result.complete
    *_, read = read_journal(tmp_path / "journal.jsonl").of("op", "ok")
    assert {topic for topic, *_ in read.data["partitions"]} == {"t", "made", "back"}
    assert result.records == 15
