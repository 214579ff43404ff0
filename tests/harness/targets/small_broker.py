"""A broker that answers ApiVersions and Metadata alone, with the lists of brokers in its arguments, one by one.

python small_broker.py ADDRESS PORTS FORM LISTS, where FORM is `v0` or `v4`, that of its ApiVersions response, and LISTS
a list of lists of [id, host, port] in JSON.
"""

import json
import socket
import struct
import sys
import threading

API_VERSIONS, METADATA = 18, 3


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def api_versions(form: str) -> bytes:
    keys = [(METADATA, 0, 1), (API_VERSIONS, 0, 0)]
    if form == "v0":
        return struct.pack(">hi", 0, len(keys)) + b"".join(struct.pack(">hhh", *key) for key in keys)
    compact = b"".join(struct.pack(">hhhb", *key, 0) for key in keys)
    return struct.pack(">hb", 0, len(keys) + 1) + compact + struct.pack(">ib", 0, 0)


def metadata(brokers: list[tuple[int, str, int]]) -> bytes:
    rows = b"".join(struct.pack(">i", id) + text(host) + struct.pack(">ih", port, -1) for id, host, port in brokers)
    return struct.pack(">i", len(brokers)) + rows + struct.pack(">ii", -1, 0)


def serve(connection: socket.socket, form: str, lists: list[list[tuple[int, str, int]]]) -> None:
    with connection, connection.makefile("rb") as stream:
        while head := stream.read(4):
            request = stream.read(struct.unpack(">i", head)[0])
            key, _, correlation_id = struct.unpack(">hhi", request[:8])
            if key == METADATA:
                answer = metadata(lists[0])
                del lists[: len(lists) > 1]
            else:
                answer = api_versions(form)
            connection.sendall(struct.pack(">ii", len(answer) + 4, correlation_id) + answer)


def listen(address: str, port: int, form: str, lists: list[list[tuple[int, str, int]]]) -> None:
    with socket.create_server((address, port)) as listener:
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=(connection, form, lists), daemon=True).start()


def main() -> None:
    address, ports, form, lists = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4])
    print("Traceback (most recent call last):\n  a line of the log that is longer than a terminal is wide", flush=True)
    for port in ports[1:]:
        threading.Thread(target=listen, args=(address, port, form, lists), daemon=True).start()
    listen(address, ports[0], form, lists)


main()
