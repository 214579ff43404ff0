#!/bin/sh
# Guess: a toxic that delays or stops bytes delays or stops the end of a connection too. Under `timeout` 0, of which the
# manual says "the connection won't close, and data will be dropped until the toxic is removed", and under a bandwidth of
# 0, a client does not learn that the server closed; under a latency of 2 s it learns it 2 s later.
#
# Seen with Toxiproxy 2.12.0: the client reads the end at once under all three. Only bytes that wait in the stream hold it
# back, of a latency or a bandwidth, and `timeout` drops even these. So none of the three makes a partition in which a
# server dies. `slow_close`, added behind the toxic that stops bytes, holds the end: the fourth line.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
module=github.com/Shopify/toxiproxy/v2
version=2.12.0
GOBIN=$folder GOPATH=$folder/go GOFLAGS=-modcacherw go install "$module/cmd/server@v$version"

cat > "$folder/ends.py" <<'PYTHON'
import json
import socket
import subprocess
import sys
import time
import urllib.request


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def ask(path, body):
    data = json.dumps(body).encode()
    with urllib.request.urlopen(f"http://127.0.0.1:{api}{path}", data, timeout=10) as answer:
        return json.load(answer)


def started():
    for _ in range(200):
        try:
            return socket.create_connection(("127.0.0.1", api), 1).close()
        except OSError:
            time.sleep(0.05)
    sys.exit("Toxiproxy did not start")


def seen(number, toxics, queued):
    """What a client reads within a second of the end that its server puts to the connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        listen = f"127.0.0.1:{free_port()}"
        upstream = f"127.0.0.1:{server.getsockname()[1]}"
        name = f"proxy-{number}"
        ask("/proxies", {"name": name, "listen": listen, "upstream": upstream, "enabled": True})
        host, port = listen.split(":")
        with socket.create_connection((host, int(port))) as client:
            accepted, _ = server.accept()
            for kind, attributes in toxics:
                body = {"name": kind, "type": kind, "stream": "downstream", "attributes": attributes}
                ask(f"/proxies/{name}/toxics", body)
            accepted.sendall(queued)
            accepted.close()
            client.settimeout(1)
            try:
                got = client.recv(100)
            except TimeoutError:
                return "nothing"
            return "the end" if got == b"" else "bytes"


api = free_port()
SILENT = {"timeout": ("timeout", {"timeout": 0}), "bandwidth": ("bandwidth", {"rate": 0})}
LATE, HELD = ("latency", {"latency": 2000}), ("slow_close", {"delay": 60_000})
with subprocess.Popen([sys.argv[1], "-port", str(api)], stdout=subprocess.DEVNULL) as program:
    try:
        started()
        alone = [SILENT["timeout"], SILENT["bandwidth"], LATE]
        for number, toxic in enumerate(alone):
            idle, busy = (seen(2 * number + place, [toxic], text) for place, text in enumerate((b"", b"queued")))
            print(f"{toxic[0]}: the client reads {idle} of an idle connection, {busy} with bytes before it")
        behind = [seen(10 + number, [toxic, HELD], b"") for number, toxic in enumerate(SILENT.values())]
        print(f"slow_close behind timeout and bandwidth: {' and '.join(behind)}")
    finally:
        program.kill()
PYTHON

expected="Toxiproxy 2.12.0
timeout: the client reads the end of an idle connection, the end with bytes before it
bandwidth: the client reads the end of an idle connection, nothing with bytes before it
latency: the client reads the end of an idle connection, nothing with bytes before it
slow_close behind timeout and bandwidth: nothing and nothing"
found="Toxiproxy $version
$(python3 "$folder/ends.py" "$folder/server")"
echo "$found"
[ "$found" = "$expected" ] || { echo "this has changed; it was:"; echo "$expected"; exit 1; } >&2
