#!/bin/sh
# Guess: `reset_peer` with a timeout of 0 resets every connection of a proxy at once, open ones as well: both sides of each
# get RST. Its manual says "simulate TCP RESET (Connection reset by peer) on the connections by closing the stub Input
# immediately or after a timeout".
#
# Seen with Toxiproxy 2.12.0: only connections that are opened after the toxic was added get RST. One that was open ends at
# its next bytes, by an orderly end (FIN), which a client takes for a server that closed. One that was open and says
# nothing is never ended. A `timeout` of 1 ms, added behind it, ends that one: the last line.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
module=github.com/Shopify/toxiproxy/v2
version=2.12.0
GOBIN=$folder GOPATH=$folder/go GOFLAGS=-modcacherw go install "$module/cmd/server@v$version"

cat > "$folder/resets.py" <<'PYTHON'
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


def connected(name):
    """Both ends of a connection through a proxy of its own."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        listen, upstream = ("127.0.0.1", free_port()), f"127.0.0.1:{server.getsockname()[1]}"
        ask("/proxies", {"name": name, "listen": f"127.0.0.1:{listen[1]}", "upstream": upstream, "enabled": True})
        before = socket.create_connection(listen), server.accept()[0]
        for stream in ("upstream", "downstream"):
            add(name, "reset_peer", stream, {"timeout": 0})
        after = socket.create_connection(listen), server.accept()[0]
        return before, after


def add(name, kind, stream, attributes):
    body = {"name": f"{kind}-{stream}", "type": kind, "stream": stream, "attributes": attributes}
    ask(f"/proxies/{name}/toxics", body)


def fate(end):
    end.settimeout(2)
    try:
        return "the end" if end.recv(100) == b"" else "bytes"
    except TimeoutError:
        return "nothing"
    except ConnectionResetError:
        return "RST"


api = free_port()
with subprocess.Popen([sys.argv[1], "-port", str(api)], stdout=subprocess.DEVNULL) as program:
    try:
        started()
        (client, server), (new, _) = connected("speaks")
        for end in (client, new):
            end.sendall(b"hello")
        print(f"opened before, and sends: client {fate(client)}, server {fate(server)}")
        print(f"opened after, and sends: client {fate(new)}")
        (client, server), _ = connected("idle")
        print(f"opened before, and idle: client {fate(client)}, server {fate(server)}")
        for stream in ("upstream", "downstream"):
            add("idle", "timeout", stream, {"timeout": 1})
        print(f"the same with a timeout behind: client {fate(client)}, server {fate(server)}")
    finally:
        program.kill()
PYTHON

expected="Toxiproxy 2.12.0
opened before, and sends: client the end, server the end
opened after, and sends: client RST
opened before, and idle: client nothing, server nothing
the same with a timeout behind: client the end, server the end"
found="Toxiproxy $version
$(python3 "$folder/resets.py" "$folder/server")"
echo "$found"
[ "$found" = "$expected" ] || { echo "this has changed; it was:"; echo "$expected"; exit 1; } >&2
