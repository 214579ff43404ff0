#!/bin/sh
# Guess: a `bandwidth` of 1 kB/s lets no more through when the same rate is set again, or when another toxic, one that does
# nothing, is added to the stream: the rest of what was sent goes on at 1 kB/s.
#
# Seen with Toxiproxy 2.12.0: each change of the toxics of a stream sets free the chunk that is held, up to 32 KiB of each
# connection, at once. A schedule that changes toxics while bytes are held back measures its own changes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
module=github.com/Shopify/toxiproxy/v2
version=2.12.0
GOBIN=$folder GOPATH=$folder/go GOFLAGS=-modcacherw go install "$module/cmd/server@v$version"

cat > "$folder/updates.py" <<'PYTHON'
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


def arrived(name, change):
    """Of 30,000 bytes at 1 kB/s, those that are there half a second later, after the change of toxics."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        listen, upstream = ("127.0.0.1", free_port()), f"127.0.0.1:{server.getsockname()[1]}"
        ask("/proxies", {"name": name, "listen": f"127.0.0.1:{listen[1]}", "upstream": upstream, "enabled": True})
        body = {"name": "slow", "type": "bandwidth", "stream": "upstream", "attributes": {"rate": 1}}
        ask(f"/proxies/{name}/toxics", body)
        with socket.create_connection(listen) as client, server.accept()[0] as accepted:
            client.sendall(bytes(30_000))
            accepted.recv(1)
            change(f"/proxies/{name}/toxics")
            return f"{1 + received(accepted, 0.5) > 29_000}"


def received(end, seconds):
    count, deadline = 0, time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        end.settimeout(left)
        try:
            count += len(end.recv(1 << 16))
        except TimeoutError:
            break
    return count


def same_rate(path):
    ask(f"{path}/slow", {"attributes": {"rate": 1}})


def idle_toxic(path):
    ask(path, {"name": "none", "type": "latency", "stream": "upstream", "attributes": {"latency": 0}})


api = free_port()
with subprocess.Popen([sys.argv[1], "-port", str(api)], stdout=subprocess.DEVNULL) as program:
    try:
        started()
        print("30,000 bytes at 1 kB/s are there within half a second")
        print("if nothing is changed:", arrived("left", lambda path: None))
        print("if the same rate is set again:", arrived("again", same_rate))
        print("if a latency of 0 is added:", arrived("added", idle_toxic))
    finally:
        program.kill()
PYTHON

expected="Toxiproxy 2.12.0
30,000 bytes at 1 kB/s are there within half a second
if nothing is changed: False
if the same rate is set again: True
if a latency of 0 is added: True"
found="Toxiproxy $version
$(python3 "$folder/updates.py" "$folder/server")"
echo "$found"
[ "$found" = "$expected" ] || { echo "this has changed; it was:"; echo "$expected"; exit 1; } >&2
