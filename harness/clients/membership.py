"""Members of consumer groups: what is assigned to them, what they read, and each commit of offsets with its answer."""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_STORED,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from fencepost.harness.calls import in_time, named
from fencepost.harness.clients.reading import BATCH, POLL_SECONDS, record_of
from fencepost.harness.clients.settings import ClientSettings
from fencepost.harness.errors import CallHangs
from fencepost.harness.plan.model import ConsumerSpec, MembershipSpec
from fencepost.results.records.journal import JournalWriter

ASK_SECONDS = 2.0
"""The time of one request for committed offsets."""
COMMIT_SECONDS = 60.0
"""The time of a synchronous commit, and of leaving the group: the client library waits for both without end."""


class Member:
    """A member of a consumer group, used by one thread. It commits after each poll that gave something.

    A position that the log or the group no longer has is journalled, and the partition is read from its beginning.
    """

    def __init__(
        self,
        spec: ConsumerSpec,
        membership: MembershipSpec,
        settings: ClientSettings,
        journal: JournalWriter,
        numbers: "count[int]",
    ) -> None:
        self._name = spec.name
        self._topic = spec.topic
        self._membership = membership
        self._journal = journal
        self._numbers = numbers
        self._base = {"process": spec.name, "group": membership.group}
        self._reset = True
        self._owned: set[int] = set()
        """Records of a partition that was revoked while they were fetched are not committed."""
        self._positions: dict[int, int] = {}
        self._pending: dict[tuple[tuple[int, int], ...], list[str]] = {}
        self._consumer = named(Consumer(settings | {"on_commit": self._answered}), spec.name)

    def run(self, stopped: threading.Event, on_read: Callable[[list[str]], None]) -> None:
        """Take part in the group until stopped, and pass the values to `on_read`; then leave it.

        Raises KafkaException for a fatal error, after which this consumer reads nothing more.
        """
        self._consumer.subscribe(
            [self._topic],
            on_assign=self._assigned,
            on_revoke=partial(self._changed, "revoked"),
            on_lost=partial(self._changed, "lost"),
        )
        try:
            while not stopped.is_set():
                on_read(self._poll())
        finally:
            in_time(f"{self._name}, which leaves its group,", COMMIT_SECONDS, self._consumer.close)

    def _poll(self) -> list[str]:
        messages = self._consumer.consume(BATCH, POLL_SECONDS)
        records = [record_of(message) for message in messages if message.error() is None]
        if records:
            data = self._base | {"f": "poll", "records": records, "reset": self._reset}
            self._journal.write("op", f"poll-{self._name}-{next(self._numbers)}", "ok", data)
            self._reset = False
            reached = {partition: offset + 1 for _, partition, offset, _ in records if partition in self._owned}
            self._positions |= reached
            if reached:
                self._commit(reached)
        for message in messages:
            if (error := message.error()) is None:
                continue
            if error.code() == KafkaError._FATAL:
                raise KafkaException(error)
            if error.code() == KafkaError._AUTO_OFFSET_RESET:
                self._start_over(message, error)
        return [record[3] for record in records]

    def _commit(self, positions: dict[int, int]) -> None:
        op = f"commit-{self._name}-{next(self._numbers)}"
        offsets = [TopicPartition(self._topic, partition, offset) for partition, offset in sorted(positions.items())]
        self._journal.write("op", op, "invoke", self._commit_data(offsets))
        asynchronous = self._membership.commit == "async"
        if asynchronous:
            self._pending.setdefault(_key(offsets), []).append(op)
        try:
            if asynchronous:
                self._consumer.commit(offsets=offsets)
                return
            answer = in_time(op, COMMIT_SECONDS, lambda: self._consumer.commit(offsets=offsets, asynchronous=False))
        except CallHangs:
            self._note(op, offsets, KafkaError(KafkaError._TIMED_OUT))
            raise
        except KafkaException as error:
            if asynchronous:
                self._pending[_key(offsets)].remove(op)
            self._note(op, offsets, error.args[0])
            return
        self._note(op, offsets, _first_error(answer))

    def _answered(self, error: KafkaError | None, offsets: list[TopicPartition]) -> None:
        """Note the answer to an asynchronous commit."""
        waiting = self._pending.get(_key(offsets), [])
        if waiting:
            self._note(waiting.pop(0), offsets, error or _first_error(offsets))

    def _note(self, op: str, offsets: Sequence[TopicPartition], error: KafkaError | None) -> None:
        """Journal the answer. After an error the commit may have happened: the client repeats requests by itself."""
        data = self._commit_data(offsets)
        if error is not None:
            data |= {"error": error.name(), "code": error.code()}
        self._journal.write("op", op, "ok" if error is None else "info", data)

    def _commit_data(self, offsets: Sequence[TopicPartition]) -> dict[str, object]:
        places = [[each.topic, each.partition, each.offset] for each in offsets]
        return self._base | {"f": "commit-offsets", "offsets": places, "sync": self._membership.commit == "sync"}

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Begin partitions for which the group has no offset at their beginning, and all others where it is.

        The client reports such partitions one by one, and each report would need a new assignment of all. After some of
        those in a row it goes back to the beginning a second time, when the next assignment is long in use.
        """
        self._changed("assigned", consumer, partitions)
        try:
            found = self._consumer.committed(partitions, timeout=ASK_SECONDS)
        except KafkaException:
            return  # the client asks again by itself
        new = [each for each in found if each.error is None and each.offset < 0]
        for each in new:
            self._note_start_over(each.partition, "the group has no offset", "no-offset")
            each.offset = self._positions[each.partition] = OFFSET_BEGINNING
        if new:
            ahead = {each.partition: each.offset for each in new}
            at = [
                TopicPartition(self._topic, one.partition, ahead.get(one.partition, OFFSET_STORED))
                for one in partitions
            ]
            (self._consumer.incremental_assign if self._membership.incremental else self._consumer.assign)(at)

    def _changed(self, what: str, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._reset = True
        for each in partitions:
            self._positions.pop(each.partition, None)
            (self._owned.add if what == "assigned" else self._owned.discard)(each.partition)
        data = self._base | {"f": what, "partitions": [[each.topic, each.partition] for each in partitions]}
        self._journal.write("op", f"{what}-{self._name}-{next(self._numbers)}", "ok", data)

    def _start_over(self, message: Message, error: KafkaError) -> None:
        """Read a partition from its beginning, whose position the log or the group does not have."""
        partition = message.partition()
        had_none = "no previously committed offset" in error.str()
        if partition is None or (had_none and partition in self._positions):
            return  # the same error once more, of an assignment that has been replaced
        self._note_start_over(partition, error.str(), "no-offset" if had_none else "out-of-range")
        self._reset = True
        self._seek_to_beginning(partition)

    def _note_start_over(self, partition: int, error: str, reason: str) -> None:
        data = self._base | {"f": "start-over", "partition": [self._topic, partition], "error": error, "reason": reason}
        self._journal.write("op", f"start-over-{self._name}-{next(self._numbers)}", "ok", data)

    def _seek_to_beginning(self, partition: int) -> None:
        """Assign the partition again, with a position: the client refuses to seek where it has none."""
        self._positions[partition] = OFFSET_BEGINNING
        at = [TopicPartition(self._topic, partition, OFFSET_BEGINNING)]
        if self._membership.incremental:
            self._consumer.incremental_unassign([TopicPartition(self._topic, partition)])
            self._consumer.incremental_assign(at)
            return
        assigned = [each.partition for each in self._consumer.assignment()]
        self._consumer.assign(
            [TopicPartition(self._topic, each, self._positions.get(each, OFFSET_STORED)) for each in assigned]
        )


def committed_offsets(
    group: str, partitions: Sequence[tuple[str, int]], settings: ClientSettings, journal: JournalWriter, op: str
) -> bool:
    """Ask the group's coordinator for its committed offsets, journal them, and return whether it answered.

    A partition without one has `null`.
    """
    base = {"process": op, "f": "committed-offsets", "group": group}
    journal.write("op", op, "invoke", base)
    consumer = named(Consumer(settings | {"group.id": group}), op)
    try:
        found = consumer.committed([TopicPartition(*each) for each in partitions], timeout=ASK_SECONDS)
        if (error := _first_error(found)) is not None:
            raise KafkaException(error)
    except KafkaException as error:
        journal.write("op", op, "info", base | {"error": error.args[0].name()})
        return False
    finally:
        consumer.close()
    offsets = [[each.topic, each.partition, each.offset if each.offset >= 0 else None] for each in found]
    journal.write("op", op, "ok", base | {"offsets": offsets})
    return True


def _first_error(offsets: Sequence[TopicPartition]) -> KafkaError | None:
    return next((each.error for each in offsets if each.error is not None), None)


def _key(offsets: Sequence[TopicPartition]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((each.partition, each.offset) for each in offsets))
