#!/bin/sh
# Guess: a library that is made from the message definitions of Kafka's protocol reads every response that a broker
# sends. An int64 of -1 in a field named ...StartTimeMs means "none", as in many other fields.
#
# Seen with kio 0.6.5: its DescribeTransactions has that field as a point in time, and -1 as no value of it: the
# response to a question about a transactional id without an open transaction (state Empty, start -1) raises
# OutOfBoundValue. With a start of 0 or later the same bytes are read.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q "kio==0.6.5"

cat > "$folder/read.py" <<'PYTHON'
import struct

from kio.schema.describe_transactions.v0.response import DescribeTransactionsResponse
from kio.serial import entity_reader


def text(value):
    return bytes([len(value) + 1]) + value.encode()


def response(start):
    """One transactional id in the state Empty, as brokers send it: compact texts and arrays, and no tagged fields."""
    state = struct.pack(">h", 0) + text("x") + text("Empty") + struct.pack(">iqqh", 60000, start, 7, 0) + b"\x01\x00"
    return struct.pack(">i", 0) + b"\x02" + state + b"\x00"


for start in (0, -1):
    try:
        answer, _ = entity_reader(DescribeTransactionsResponse)(response(start), 0)
        print(start, answer.transaction_states[0].transaction_state)
    except Exception as error:
        print(start, type(error).__name__)
PYTHON

expected="0 Empty
-1 OutOfBoundValue"
found=$("$folder/venv/bin/python" "$folder/read.py")
echo "$found"
[ "$found" = "$expected" ] || { echo "this has changed; it was:"; echo "$expected"; exit 1; } >&2
