#!/bin/sh
# Guess: `toxiproxy_proxy_sent_bytes_total` counts the bytes that a proxy has sent, as it sends them: of a connection that
# is open, and of one whose receiver went away in the middle, those that it took.
#
# Seen with Toxiproxy 2.12.0: nothing is counted while a connection is open, neither received nor sent. And a connection
# whose last write failed is left out of what was sent for ever, with all that its receiver took before; it is counted as
# received. So the counter says 0 of a transfer that broke off at its end. The warning "Could not write to destination" in
# the log has the number, in its field `bytes`.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
module=github.com/Shopify/toxiproxy/v2
version=2.12.0
GOBIN=$folder GOPATH=$folder/go GOFLAGS=-modcacherw go install "$module/cmd/server@v$version"

cat > "$folder/metrics.py" <<'PYTHON'
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


def counted(direction):
    with urllib.request.urlopen(f"http://127.0.0.1:{api}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    found = [line for line in lines if line.startswith(f"toxiproxy_proxy_{direction}_bytes_total{{")]
    return sum(int(float(line.split()[-1])) for line in found if 'direction="upstream"' in line)


def transfer(name, receiver_goes):
    """Send 5,000 bytes, which arrive; then the receiver goes, or the sender ends it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        listen, upstream = ("127.0.0.1", free_port()), f"127.0.0.1:{server.getsockname()[1]}"
        ask("/proxies", {"name": name, "listen": f"127.0.0.1:{listen[1]}", "upstream": upstream, "enabled": True})
        # The end that the receiver sends waits, so the sender goes on.
        quiet = {"name": "quiet", "type": "slow_close", "stream": "downstream", "attributes": {"delay": 60_000}}
        ask(f"/proxies/{name}/toxics", quiet)
        before = counted("received")
        with socket.create_connection(listen) as client, server.accept()[0] as accepted:
            client.sendall(bytes(5000))
            count = 0
            while count < 5000:
                count += len(accepted.recv(5000))
            print(f"{count} bytes arrived: received {counted('received') - before}, sent {counted('sent')}")
            if receiver_goes:
                accepted.close()
                for _ in range(3):
                    client.sendall(b"in vain")
                    time.sleep(0.2)
        until(lambda: counted("received") > before)


def until(holds):
    for _ in range(200):
        if found := holds():
            return found
        time.sleep(0.05)
    sys.exit("that did not come")


def refused():
    return [json.loads(line) for line in open(log) if "Could not write to destination" in line]


api = free_port()
log = f"{sys.argv[1]}.log"
with open(log, "wb") as out, subprocess.Popen([sys.argv[1], "-port", str(api), "-proxy-metrics"], stdout=out) as program:
    try:
        started()
        transfer("broken", receiver_goes=True)
        (failed,) = until(refused)
        print(f"the receiver went: sent {counted('sent')}, in the log all that arrived: {failed['bytes'] >= 5000}")
        transfer("whole", receiver_goes=False)
        until(lambda: counted("sent"))
        print(f"another, which the sender ended: sent {counted('sent')}")
    finally:
        program.kill()
PYTHON

expected="Toxiproxy 2.12.0
5000 bytes arrived: received 0, sent 0
the receiver went: sent 0, in the log all that arrived: True
5000 bytes arrived: received 0, sent 0
another, which the sender ended: sent 5000"
found="Toxiproxy $version
$(python3 "$folder/metrics.py" "$folder/server")"
echo "$found"
[ "$found" = "$expected" ] || { echo "this has changed; it was:"; echo "$expected"; exit 1; } >&2
