"""Idempotent producers (KIP-98): detects batches that were appended before, and gaps in their sequences.

Pure, and a function of the batch headers alone: a new leader gets the same state by reading its log.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import astuple, dataclass, field
from typing import Any, Self

from fencepost.cluster_impl.wire.batches import Batch
from fencepost.cluster_impl.wire.errors import Error

REMEMBERED_BATCHES = 5
"""Limit for each producer, which has at most as many requests in flight."""

_MAX_SEQUENCE = 2**31 - 1


class SequenceError(Exception):
    """A batch that must not be appended. `error` is the answer for the producer."""

    def __init__(self, error: Error, message: str) -> None:
        super().__init__(message)
        self.error = error


@dataclass(frozen=True, slots=True)
class AppendedBatch:
    first_sequence: int
    last_sequence: int
    base_offset: int
    last_offset: int
    timestamp: int
    """The largest in the batch, milliseconds since 1970."""


@dataclass(slots=True)
class _Producer:
    epoch: int
    batches: deque[AppendedBatch] = field(default_factory=lambda: deque(maxlen=REMEMBERED_BATCHES))


class ProducerStates:
    def __init__(self) -> None:
        self._producers: dict[int, _Producer] = {}

    @classmethod
    def rebuilt(cls, batches: Iterable[Batch]) -> Self:
        """Build the states from all batches of a log, in order."""
        states = cls()
        for batch in batches:
            states.update(batch)
        return states

    def dump(self) -> list[Any]:
        """Return the states as JSON values, for `load`."""
        return [
            [producer_id, producer.epoch, [list(astuple(batch)) for batch in producer.batches]]
            for producer_id, producer in self._producers.items()
        ]

    @classmethod
    def load(cls, dumped: list[Any]) -> Self:
        """Return the states that `dump` described."""
        states = cls()
        for producer_id, epoch, appended in dumped:
            producer = states._producers[producer_id] = _Producer(epoch)
            producer.batches.extend(AppendedBatch(*batch) for batch in appended)
        return states

    def check(self, batch: Batch) -> AppendedBatch | None:
        """Return the earlier append that a batch repeats, or None if the batch may be appended.

        Raises SequenceError: 47 for an epoch that is behind, 45 for a sequence that does not follow. An unknown
        producer may begin with any sequence, as in Kafka.
        """
        producer = self._producers.get(batch.producer_id) if batch.has_producer_id else None
        if producer is None:
            return None
        if batch.producer_epoch < producer.epoch:
            raise SequenceError(
                Error.INVALID_PRODUCER_EPOCH,
                f"producer {batch.producer_id} has epoch {batch.producer_epoch}, epoch {producer.epoch} was seen",
            )
        if batch.producer_epoch > producer.epoch:
            self._expect(0, batch)
            return None
        for appended in producer.batches:
            if (appended.first_sequence, appended.last_sequence) == (batch.base_sequence, batch.last_sequence):
                return appended
        if producer.batches:
            last = producer.batches[-1].last_sequence
            self._expect(0 if last == _MAX_SEQUENCE else last + 1, batch)
        return None

    def update(self, batch: Batch) -> None:
        """Adopt an appended batch, which carries its final offsets."""
        if not batch.has_producer_id:
            return
        producer = self._producers.get(batch.producer_id)
        if producer is None or producer.epoch != batch.producer_epoch:
            producer = self._producers[batch.producer_id] = _Producer(batch.producer_epoch)
        if not batch.is_control:
            producer.batches.append(
                AppendedBatch(
                    batch.base_sequence,
                    batch.last_sequence,
                    batch.base_offset,
                    batch.last_offset,
                    batch.max_timestamp,
                )
            )

    @staticmethod
    def _expect(sequence: int, batch: Batch) -> None:
        if batch.base_sequence != sequence:
            raise SequenceError(
                Error.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"producer {batch.producer_id} sent sequence {batch.base_sequence}, {sequence} was due",
            )
