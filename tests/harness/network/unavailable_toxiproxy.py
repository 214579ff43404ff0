#!/usr/bin/env python3
"""A Toxiproxy that answers 503 to every request for a toxic, and does all else: the server itself stands behind.

    unavailable_toxiproxy.py -host HOST -port PORT …

Toxiproxy says 503 of its own accord 25 s after it was asked for a toxic on a connection that is not read.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise

BEHIND = "TOXIPROXY_BEHIND"
"""The environment names the program."""
PR_SET_PDEATHSIG = 1


class Front(BaseHTTPRequestHandler):
    behind: str

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)) or None
        if self.command == "POST" and self.path.endswith("/toxics"):
            self._answer(503, b'{"error": "service unavailable", "status": 503}')
            return
        request = urllib.request.Request(self.behind + self.path, body, method=self.command)
        try:
            with urllib.request.urlopen(request) as response:
                self._answer(response.status, response.read())
        except urllib.error.HTTPError as error:
            self._answer(error.code, error.read())

    do_POST = do_DELETE = do_GET

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main(arguments: list[str]) -> None:
    options = dict(pairwise(arguments))
    host, port = options["-host"], int(options["-port"])
    with socket.create_server((host, 0)) as free:
        inner = free.getsockname()[1]
    command = [os.environ[BEHIND], "-host", host, "-port", str(inner)]
    subprocess.Popen(command, preexec_fn=_end_with_parent)
    Front.behind = f"http://{host}:{inner}"
    ThreadingHTTPServer((host, port), Front).serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
