"""A broker with one topic of one partition that answers some batches as if they had come before.

It answers as brokers do that know a batch and no longer its offset: DUPLICATE_SEQUENCE_NUMBER, at offset -1.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from tests.harness.clients.offering import API_VERSIONS, offering

TOPIC = b"t"
PRODUCE, FETCH, METADATA, INIT_PRODUCER_ID = 0, 1, 3, 22
OFFERED = {PRODUCE: (3, 3), FETCH: (4, 4), METADATA: (1, 1), INIT_PRODUCER_ID: (0, 0), API_VERSIONS: (0, 0)}
UNSUPPORTED_VERSION, DUPLICATE_SEQUENCE_NUMBER = 35, 46
RECORD_COUNT = 57
"""The place of the number of records in a batch."""


@contextmanager
def repeating_broker(is_duplicate: Callable[[int], bool]) -> Iterator[str]:
    """Yield the address of the broker. `is_duplicate` is asked with the number of each batch, from 0."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        broker = _Broker(listening.getsockname()[1], is_duplicate)
        threading.Thread(target=broker.accept, args=(listening,), daemon=True).start()
        yield f"127.0.0.1:{broker.port}"
        listening.shutdown(socket.SHUT_RDWR)


class _Broker:
    def __init__(self, port: int, is_duplicate: Callable[[int], bool]) -> None:
        self.port = port
        self._is_duplicate = is_duplicate
        self._batches = self._end = 0

    def accept(self, listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(listening.accept()[0],), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError, struct.error), connection.makefile("rb") as stream:
            while True:
                request = stream.read(*struct.unpack(">i", stream.read(4)))
                key, version, correlation_id, client = struct.unpack_from(">hhih", request)
                body = request[10 + max(client, 0) :]
                if key == API_VERSIONS:  # a newer version is answered in version 0 and with an error, as by brokers
                    connection.sendall(offering(correlation_id, OFFERED, UNSUPPORTED_VERSION if version else 0))
                    continue
                answer = struct.pack(">i", correlation_id) + self._answer(key, body)
                connection.sendall(struct.pack(">i", len(answer)) + answer)

    def _answer(self, key: int, body: bytes) -> bytes:
        if key == METADATA:
            broker = struct.pack(">iih9sih", 1, 1, 9, b"127.0.0.1", self.port, -1)
            partition = struct.pack(">hiiiiii", 0, 0, 1, 1, 1, 1, 1)
            return broker + struct.pack(">iihh1sBi", 1, 1, 0, 1, TOPIC, 0, 1) + partition
        if key == INIT_PRODUCER_ID:
            return struct.pack(">ihqh", 0, 0, 1000, 0)
        return self._produce(body)

    def _produce(self, body: bytes) -> bytes:
        """Answer one batch: transactional id (none), acks, timeout, one topic, one partition, its records."""
        batch = body[struct.calcsize(">hhiih1siii") :]
        (records,) = struct.unpack_from(">i", batch, RECORD_COUNT)
        error, offset = (DUPLICATE_SEQUENCE_NUMBER, -1) if self._is_duplicate(self._batches) else (0, self._end)
        self._batches += 1
        self._end += records
        return struct.pack(">ih1siihqqi", 1, 1, TOPIC, 1, 0, error, offset, -1, 0)
