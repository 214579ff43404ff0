"""Producers of the workload against a broker that knows some batches already."""

from itertools import count
from pathlib import Path

from fencepost.harness.checkers.history import History, read_history
from fencepost.harness.checkers.inconsistent_offsets import inconsistent_offsets
from fencepost.harness.checkers.nonmonotonic_send import nonmonotonic_send
from fencepost.harness.clients import settings
from fencepost.harness.clients.sending import Sender
from fencepost.harness.plan.model import Timing
from fencepost.results.records.journal import JournalWriter, read_journal
from fencepost.results.records.verdict import Verdict
from tests.harness.clients.repeating_broker import repeating_broker

WITHIN = 20.0


def sent(path: Path, bootstrap: str, *batches: int) -> History:
    """Send batches of so many records, each after the reports of the one before."""
    config = settings.producer(
        {"bootstrap.servers": bootstrap},
        Timing(),
        "p",
        acks="all",
        idempotent=True,
        retry=True,
        timeout_ms=int(WITHIN * 1000),
    )
    with JournalWriter(path) as journal:
        sender = Sender(
            "p", "t", config | {"linger.ms": 200}, journal, size=1, numbers=count(), on_promise=lambda _: None
        )
        for records in batches:
            for _ in range(records):
                sender.send(0)
            sender.finish(WITHIN)
    return read_history(read_journal(path))


def test_offsets_that_the_client_makes_up_for_a_known_batch_are_unknown(tmp_path: Path) -> None:
    """librdkafka reports success at no offset, 0, 1, 2 for records that are at 3 to 6."""
    with repeating_broker(lambda batch: batch == 1) as bootstrap:
        history = sent(tmp_path / "journal.jsonl", bootstrap, 3, 4, 2)
    assert [send.offset for send in history.sends] == [0, 1, 2, None, None, None, None, 7, 8]
    assert len(history.promises) == 9
    assert inconsistent_offsets(history).verdict is Verdict.PASS
    assert nonmonotonic_send(history).verdict is Verdict.PASS


def test_offsets_after_a_known_batch_are_believed(tmp_path: Path) -> None:
    """The records after it are at 1 and 2, where the client would make up 0."""
    with repeating_broker(lambda batch: batch == 0) as bootstrap:
        history = sent(tmp_path / "journal.jsonl", bootstrap, 1, 2)
    assert [send.offset for send in history.sends] == [None, 1, 2]
