"""Each call into the client library hangs once: the workload ends all the same, and the journal names the call.

The brokers are those that librdkafka simulates inside this process. Only the calls of one method of one class hang.
"""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from fencepost.harness.checkers.history import read_history
from fencepost.harness.clients import membership, reading, sending, settings, workload
from fencepost.harness.clients.workload import Workload
from fencepost.harness.clients.zookeeper import leaderless
from fencepost.harness.engine import performed
from fencepost.harness.errors import CallHangs
from fencepost.harness.judge import judge
from fencepost.results.records.journal import JournalWriter, read_journal
from fencepost.results.records.verdict import RunVerdict, Verdict
from tests.harness.checkers.plans import plan

WITHIN = 20.0
SOON = 0.4
"""The seconds that a call has here, in place of a minute."""

READER: dict[str, Any] = {"consumers": [{"name": "c1", "topic": "t"}]}
PRODUCER: dict[str, Any] = {"producers": [{"name": "p1", "topic": "t", "rate": 200}]}


def member(group: str, commit: str = "sync") -> dict[str, Any]:
    """Return a workload with a member of a group that no other case has."""
    return {"consumers": [{"name": "m1", "topic": "t", "membership": {"group": group, "commit": commit}}]}


def transactions(**more: str) -> dict[str, Any]:
    of = {"id": "x", "records": 5, "abort_every": 2, "timeout_ms": 1000, **more}
    return {"producers": [{"name": "p1", "topic": "t", "rate": 200, "transactions": of}]}


CASES = [
    (sending, "Producer", "produce", PRODUCER, "p1"),
    (sending, "Producer", "poll", PRODUCER, "p1"),
    (sending, "Producer", "flush", PRODUCER, "p1"),
    (sending, "Producer", "init_transactions", transactions(), "p1"),
    (sending, "Producer", "begin_transaction", transactions(), "p1"),
    (sending, "Producer", "commit_transaction", transactions(), "p1"),
    (sending, "Producer", "abort_transaction", transactions(), "p1"),
    (workload, "Consumer", "consumer_group_metadata", transactions(group="offsets"), "p1"),
    (reading, "Consumer", "assign", READER, "c1"),
    (reading, "Consumer", "consume", READER, "c1"),
    (reading, "Consumer", "close", READER, "c1"),
    (reading, "Consumer", "get_watermark_offsets", READER, "final-1"),
    (reading, "Consumer", "position", READER, "final-1"),
    (membership, "Consumer", "subscribe", member("a"), "m1"),
    (membership, "Consumer", "consume", member("b"), "m1"),
    (membership, "Consumer", "committed", member("c"), "m1"),
    (membership, "Consumer", "commit", member("d"), "m1"),
    (membership, "Consumer", "commit", member("e", "async"), "m1"),
    (membership, "Consumer", "close", member("f"), "m1"),
    (workload, "AdminClient", "list_topics", READER, "the harness"),
]


@pytest.fixture(scope="module")
def brokers() -> Iterator[str]:
    simulator = Producer({"test.mock.num.brokers": 3, "bootstrap.servers": "", "log_level": 0})
    metadata = simulator.list_topics(timeout=WITHIN)
    yield ",".join(f"{broker.host}:{broker.port}" for broker in metadata.brokers.values())
    simulator.flush(1)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (workload, membership):
        monkeypatch.setattr(module, "COMMIT_SECONDS", SOON)
    monkeypatch.setattr(workload, "MARGIN_SECONDS", SOON)
    monkeypatch.setattr(Workload, "_stopping_seconds", lambda self: SOON)
    monkeypatch.setattr(settings, "record_timeout_ms", lambda timing: 400)


def hanging(real: Any, method: str, hung: threading.Event) -> Any:
    """Return the class with one method that never returns; `hung` is set once it was called."""

    class Hanging:
        def __init__(self, *arguments: Any) -> None:
            self._real = real(*arguments)

        def __getattr__(self, name: str) -> Any:
            return self._never if name == method else getattr(self._real, name)

        def _never(self, *_: Any, **__: Any) -> None:
            hung.set()
            threading.Event().wait()

    Hanging.__name__ = real.__name__
    return Hanging


def hang(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, method: str) -> threading.Event:
    hung = threading.Event()
    monkeypatch.setattr(module, name, hanging(getattr(module, name), method, hung))
    return hung


def messages(verdict: RunVerdict) -> str:
    assert verdict.verdict in (Verdict.INFRASTRUCTURE, Verdict.VIOLATION)  # the simulation forgets offsets of groups
    return "\n".join(finding.message for finding in verdict.findings if finding.check == "hangs")


@pytest.mark.parametrize(
    ("module", "client", "method", "clients", "of"), CASES, ids=[f"{case[1]}.{case[2]}-{case[4]}" for case in CASES]
)
def test_a_workload_ends_whatever_hangs_and_is_judged(
    module: Any,
    client: str,
    method: str,
    clients: dict[str, Any],
    of: str,
    brokers: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    create = {"do": "probe", "request": "create-topic", "as": "create", "node": "node-4", "topic": "made"}
    scenario = plan(workload=clients, steps=[create])
    with JournalWriter(tmp_path / "journal.jsonl") as journal:
        journal.write("run", "r", "begin")
        load = Workload(scenario, journal, lambda site: {"bootstrap.servers": brokers})
        assert load.burst("burst", "t", 0, 10, "all", False, timeout=WITHIN).acknowledged == 10
        hung = hang(monkeypatch, module, client, method)
        load.start()
        if of in {each["name"] for each in next(iter(clients.values()))} and method not in ("flush", "close"):
            assert hung.wait(WITHIN)
        load.stop()
        load.final_read(SOON)
        journal.write("run", "r", "end")
    assert hung.is_set()
    seen = read_journal(tmp_path / "journal.jsonl")
    verdict = judge(scenario, seen)
    assert f"{client}.{method}() of {of} has not returned" in messages(verdict)
    assert len(read_history(seen).promises) >= 10


def test_a_burst_that_hangs_ends_with_the_name_of_its_call(
    brokers: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hang(monkeypatch, sending, "Producer", "flush")
    with JournalWriter(tmp_path / "journal.jsonl") as journal:
        load = Workload(plan(), journal, lambda site: {"bootstrap.servers": brokers})
        with pytest.raises(CallHangs, match=r"^the burst b did not end: Producer.flush\(\) of b has not returned"):
            load.burst("b", "t", 0, 10, "all", False, timeout=0.5)


def test_topics_whose_creation_hangs_end_the_run_with_the_name_of_the_call(
    brokers: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hang(monkeypatch, workload, "AdminClient", "create_topics")
    with JournalWriter(tmp_path / "journal.jsonl") as journal:
        load = Workload(plan(), journal, lambda site: {"bootstrap.servers": brokers})
        with pytest.raises(CallHangs, match=r"AdminClient.create_topics\(\) of the harness"):
            load.create_topics(0.2)


class SilentZooKeeper:
    """A client of ZooKeeper that has a session, and whose requests are never answered."""

    def __init__(self, **_: object) -> None:
        pass

    def start(self, timeout: float) -> None:
        pass

    def ensure_path(self, path: str) -> None:
        threading.Event().wait()

    def create(self, path: str, data: bytes, *, sequence: bool) -> None:
        threading.Event().wait()


def test_requests_to_zookeeper_that_hang_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (leaderless, performed):
        monkeypatch.setattr(module, "KazooClient", SilentZooKeeper)
        monkeypatch.setattr(module, "CONNECT_WITHIN", 0.1)
    monkeypatch.setattr(performed, "ANSWER_WITHIN", 0.1)
    with pytest.raises(CallHangs, match=r"^create /a did not end: SilentZooKeeper.create\(\) of the harness"):
        performed.change_znode("create", "/a", "", "127.0.0.1:1")
    with pytest.raises(CallHangs, match=r"^preparing 0 topics in ZooKeeper did not end: SilentZooKeeper.ensure_path"):
        leaderless.prepare_topics((), "127.0.0.1:1", 0.2)
