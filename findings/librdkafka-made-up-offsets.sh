#!/bin/sh
# Guess: the offset in a delivery report without an error is that of the record in the log, or there is none.
#
# Seen with confluent-kafka 2.16.1: a broker that knows a batch already, and no longer where it is, answers
# DUPLICATE_SEQUENCE_NUMBER (46) at base offset -1. librdkafka 2.16.0 takes that for success and counts on from -1: the
# first record has no offset, and those after it have 0, 1, 2, and so on, wherever the batch is.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
version=2.16.1
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install "confluent-kafka==$version"

cat > "$folder/offsets.py" <<'PYTHON'
"""A broker with one topic of one partition knows the second batch already. Its end of the log is known here."""

import contextlib
import socket
import struct
import threading

from confluent_kafka import Producer, libversion, version

PRODUCE, METADATA, API_VERSIONS, INIT_PRODUCER_ID = 0, 3, 18, 22
OFFERED = {PRODUCE: (3, 3), 1: (4, 4), METADATA: (1, 1), API_VERSIONS: (0, 0), INIT_PRODUCER_ID: (0, 0)}
SEEN = [0, 1, 2, None, 0, 1, 2, 7, 8]
batches, end = 0, 0


def answer(key, version, body):
    global batches, end
    if key == API_VERSIONS:  # another version than 0 is answered in version 0, with UNSUPPORTED_VERSION (35)
        offered = b"".join(struct.pack(">hhh", each, *span) for each, span in OFFERED.items())
        return struct.pack(">hi", 35 if version else 0, len(OFFERED)) + offered
    if key == METADATA:
        broker = struct.pack(">iih9sih", 1, 1, 9, b"127.0.0.1", port, -1)
        return broker + struct.pack(">iihh1sBi", 1, 1, 0, 1, b"t", 0, 1) + struct.pack(">hiiiiii", 0, 0, 1, 1, 1, 1, 1)
    if key == INIT_PRODUCER_ID:
        return struct.pack(">ihqh", 0, 0, 1000, 0)
    records = struct.unpack_from(">i", body, struct.calcsize(">hhiih1siii") + 57)[0]
    error, offset = (46, -1) if batches == 1 else (0, end)
    batches, end = batches + 1, end + records
    return struct.pack(">ih1siihqqi", 1, 1, b"t", 1, 0, error, offset, -1, 0)


def serve(connection):
    with connection, contextlib.suppress(OSError, struct.error), connection.makefile("rb") as stream:
        while True:
            request = stream.read(*struct.unpack(">i", stream.read(4)))
            key, version, correlation, client = struct.unpack_from(">hhih", request)
            said = struct.pack(">i", correlation) + answer(key, version, request[10 + max(client, 0) :])
            connection.sendall(struct.pack(">i", len(said)) + said)


def accept():
    with contextlib.suppress(OSError):
        while True:
            threading.Thread(target=serve, args=listening.accept()[:1], daemon=True).start()


with socket.create_server(("127.0.0.1", 0)) as listening:
    port = listening.getsockname()[1]
    threading.Thread(target=accept, daemon=True).start()
    producer = Producer({"bootstrap.servers": f"127.0.0.1:{port}", "enable.idempotence": True, "linger.ms": 200})
    reported = []
    for records in (3, 4, 2):
        for _ in range(records):
            note = lambda error, record: reported.append((error, record.offset()))
            producer.produce("t", b"x", partition=0, on_delivery=note)
        producer.flush(30)

print(f"confluent-kafka {version()}, librdkafka {libversion()[0]}")
print("the records are at", list(range(9)))
print("reported at       ", [offset for _, offset in reported], "errors:", [error for error, _ in reported if error])
raise SystemExit(reported != [(None, offset) for offset in SEEN])
PYTHON
"$folder/venv/bin/python" "$folder/offsets.py" || { echo "this has changed"; exit 1; }
