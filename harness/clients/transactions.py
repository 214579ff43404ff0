"""Transactional producers: the end of each transaction is in the journal before it is asked for, the answer after.

Only a commit that was asked for can have happened. So a transaction that is not to be committed, or of which a record
was not delivered, is aborted for certain, however its abort is answered; a commit without an acknowledgement may have
happened.
"""

import threading
import time
from collections.abc import Callable, Mapping
from enum import Enum, auto
from itertools import count

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from fencepost.harness.calls import in_time
from fencepost.harness.clients.sending import Sender
from fencepost.harness.errors import CallHangs
from fencepost.harness.plan.model import ProducerSpec, TransactionSpec
from fencepost.results.records.journal import JournalWriter

ANSWER_SECONDS = 1.0
"""The time of one attempt to begin a session or to end a transaction; then it is attempted again."""
AGAIN_SECONDS = 0.2
FENCED = frozenset({KafkaError._FENCED, KafkaError.INVALID_PRODUCER_EPOCH, KafkaError.PRODUCER_FENCED})


class _Answer(Enum):
    """The answer to a request of the session: it was done, it is refused until an abort, or the session is over."""

    DONE = auto()
    ABORT_FIRST = auto()
    SESSION_OVER = auto()
    FENCED = auto()


class TransactionalProducer:
    """Sends transactions until it is stopped, or fenced by a rival: another producer of the plan with its id.

    A session that fails otherwise is followed by a new one, as in an application that starts again. `open_session`
    gives the sender of a new session; `has_rival` says whether a producer with the same id was started later, and
    `rival_begun` whether the coordinator has acknowledged a session of that one. `open_group` gives a consumer with the
    id of a group, in whose name offsets are committed. `sleeper_is_awake` says whether a producer with the same id is
    still to fall asleep, which this one waits for before it begins. It may run several times; the numbers of its
    transactions go on.
    """

    def __init__(
        self,
        spec: ProducerSpec,
        transactions: TransactionSpec,
        partitions: int,
        open_session: Callable[[], Sender],
        journal: JournalWriter,
        has_rival: Callable[[], bool],
        rival_begun: Callable[[], bool],
        open_group: Callable[[str], Consumer],
        sleeper_is_awake: Callable[[], bool],
    ) -> None:
        self._spec = spec
        self._transactions = transactions
        self._partitions = partitions
        self._open_session = open_session
        self._journal = journal
        self._sessions = count()
        self._numbers = count()
        self._has_rival = has_rival
        self._rival_begun = rival_begun
        self._open_group = open_group
        self._group: Consumer | None = None
        self._sleeper_is_awake = sleeper_is_awake
        self.has_slept = False
        self.has_begun = False
        """The coordinator has acknowledged a session of it."""
        self._base = {"process": spec.name, "transactional_id": spec.transactional_id}

    def run(self, stopped: threading.Event) -> None:
        """Send until stopped or fenced."""
        if self._transactions.group is not None and self._group is None:
            self._group = self._open_group(self._transactions.group)
        until = time.monotonic() + self._transactions.timeout_ms / 1000
        while self._sleeper_is_awake() and time.monotonic() < until and not stopped.wait(AGAIN_SECONDS / 4):
            pass  # all its records are delivered once it sleeps: it learns nothing of the session that begins now
        while not stopped.is_set():
            sender = self._open_session()
            op = f"init-{self._spec.name}-{next(self._sessions)}"
            data = {"f": "init-transactions", "timeout_ms": self._transactions.timeout_ms}
            answer = self._request(op, data, sender.producer.init_transactions, stopped)
            self.has_begun |= answer is _Answer.DONE
            while answer is _Answer.DONE and not stopped.is_set():
                answer = self._send_transaction(sender, stopped)
            if answer is _Answer.FENCED and self._has_rival():
                return
            stopped.wait(AGAIN_SECONDS)

    def _send_transaction(self, sender: Sender, stopped: threading.Event) -> _Answer:
        """Send one transaction and end it. One that is stopped on its way is ended, too."""
        number = next(self._numbers)
        name = f"{self._spec.name}-tx-{number}"
        try:
            sender.producer.begin_transaction()
        except KafkaException as error:
            return _meaning(error.args[0])
        sender.begin(name)
        try:
            self._send_records(sender, stopped)
            sender.settle(self._transactions.timeout_ms / 1000)
        except KafkaException as error:  # the client raises a fatal error, such as that it is fenced, from any call
            return _meaning(error.args[0])
        slept = self._sleep(stopped)
        every = self._transactions.abort_every
        if sender.delivered and (slept or every is None or number % every != every - 1):
            if (refused := self._send_offset(sender, number, stopped)) is not None:
                return refused if refused is not _Answer.ABORT_FIRST else self._abort(name, sender, stopped)
            answer = self._commit(name, number, sender, stopped)
            if answer is _Answer.DONE:
                sender.committed()
            if answer is not _Answer.ABORT_FIRST:
                return answer
        return self._abort(name, sender, stopped)

    def _abort(self, name: str, sender: Sender, stopped: threading.Event) -> _Answer:
        return self._end(name, "abort", sender.producer.abort_transaction, stopped)

    def _commit(self, name: str, number: int, sender: Sender, stopped: threading.Event) -> _Answer:
        """Ask for the commit. The offset of the group counts with it: both are in the journal before and after."""
        op, data = f"commit-offsets-{name}", self._committed_offset(number)
        if data is not None:
            self._journal.write("op", op, "invoke", data)
        answer = self._end(name, "commit", sender.producer.commit_transaction, stopped)
        if data is not None:
            self._journal.write("op", op, "ok" if answer is _Answer.DONE else "info", data)
        return answer

    def _committed_offset(self, number: int) -> dict[str, object] | None:
        if self._group is None:
            return None
        offsets = [[self._spec.topic, 0, number + 1]]
        base = {"process": self._spec.name, "group": self._transactions.group}
        return base | {"f": "commit-offsets", "offsets": offsets, "sync": False}

    def _send_offset(self, sender: Sender, number: int, stopped: threading.Event) -> _Answer | None:
        """Make the group's offset a part of the transaction. Return the answer if it is not; None if it is.

        The coordinator aborts a transaction that is not ended in its time, so it is not asked for longer than that.
        """
        if self._group is None:
            return None
        offsets = [TopicPartition(self._spec.topic, 0, number + 1)]
        metadata = self._group.consumer_group_metadata()
        answer = self._request(
            f"send-offsets-{self._spec.name}-tx-{number}",
            {"f": "send-offsets", "group": self._transactions.group, "offsets": [[self._spec.topic, 0, number + 1]]},
            lambda seconds: self._answered(
                lambda: sender.producer.send_offsets_to_transaction(offsets, metadata, seconds)
            ),
            stopped,
            until=time.monotonic() + self._transactions.timeout_ms / 1000,
        )
        return None if answer is _Answer.DONE else answer

    def _answered(self, call: Callable[[], None]) -> None:
        """Make a call that may not return in its time: librdkafka waits without end for a group's coordinator that is
        gone from the metadata (librdkafka issues 5456 and 5511)."""
        try:
            in_time("the offset of a transaction", self._transactions.timeout_ms / 1000, call)
        except CallHangs as error:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT, str(error), False, False, False)) from error

    def _sleep(self, stopped: threading.Event) -> bool:
        """Sleep once, as a process in a long pause, until a rival that was started has begun its session.

        Return whether it slept: it asks for a commit then, which was sent for certain after it had been fenced. A rival
        that does not begin for as long as a transaction may last is not waited for.
        """
        if self.has_slept or not self._transactions.sleeps or not self._has_rival():
            return False
        self.has_slept = True
        until = time.monotonic() + self._transactions.timeout_ms / 1000
        while not (stopped.is_set() or self._rival_begun()) and time.monotonic() < until:
            time.sleep(AGAIN_SECONDS / 4)
        return True

    def _send_records(self, sender: Sender, stopped: threading.Event) -> None:
        due = time.monotonic()
        for number in range(self._transactions.records):
            while (late := due - time.monotonic()) > 0:
                sender.serve(late)
            if stopped.is_set():
                return
            sender.send(number % self._partitions)
            sender.serve(0)
            due = max(due + 1 / self._spec.rate, time.monotonic() - 1 / self._spec.rate)

    def _end(self, name: str, action: str, ask: Callable[[float], None], stopped: threading.Event) -> _Answer:
        data = {"f": "end-transaction", "transaction": name, "action": action}
        answer = self._request(f"{action}-{name}", data, ask, stopped)
        refused_abort = action == "abort" and answer is _Answer.ABORT_FIRST
        return _Answer.SESSION_OVER if refused_abort else answer

    def _request(
        self,
        op: str,
        data: Mapping[str, object],
        ask: Callable[[float], None],
        stopped: threading.Event,
        until: float | None = None,
    ) -> _Answer:
        base: dict[str, object] = {**self._base, **data}
        self._journal.write("op", op, "invoke", base)
        cause = self._ask(ask, stopped, until)
        if cause is not None:
            self._journal.write("op", op, "info", base | {"error": cause.name(), "code": cause.code()})
            return _meaning(cause)
        self._journal.write("op", op, "ok", base)
        return _Answer.DONE

    def _ask(
        self, ask: Callable[[float], None], stopped: threading.Event, given_up: float | None = None
    ) -> KafkaError | None:
        """Ask until there is an answer, or until `given_up`, a monotonic time; return the error.

        Once stopped, it is asked for as long as a transaction may last.
        """
        while True:
            try:
                ask(ANSWER_SECONDS)
            except KafkaException as error:
                cause: KafkaError = error.args[0]
                now = time.monotonic()
                if given_up is None and stopped.is_set():
                    given_up = now + self._transactions.timeout_ms / 1000
                if cause.retriable() and (given_up is None or now < given_up):
                    time.sleep(AGAIN_SECONDS / 4)
                    continue
                return cause
            return None


def _meaning(cause: KafkaError) -> _Answer:
    if cause.code() in FENCED:
        return _Answer.FENCED
    return _Answer.ABORT_FIRST if cause.txn_requires_abort() and not cause.fatal() else _Answer.SESSION_OVER
