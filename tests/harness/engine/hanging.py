"""Something in this process never returns, as the environment variable HANGS says. It is a plugin of pytest, too.

`client`: closing a consumer. `run`: the end of the observer. `all`: that, in a process that neither its watchdog nor an
interrupt ends.

    HANGS=client python hanging.py -m MODULE ARGUMENTS
"""

import os
import runpy
import signal
import sys
import threading
from typing import Any

from confluent_kafka import Consumer

from fencepost.harness.clients import reading
from fencepost.harness.clients.observer import Observer
from fencepost.harness.engine import run, watchdog


def never(*_: Any) -> None:
    while True:
        threading.Event().wait()


class HangingConsumer(Consumer):
    def close(self) -> None:
        never()


HangingConsumer.__name__ = "Consumer"


def never_armed(self: watchdog.Watchdog, seconds: float) -> None:
    """Let the run take as long as it likes."""


def begin(what: str) -> None:
    if what == "client":
        setattr(reading, "Consumer", HangingConsumer)  # noqa: B010  # a name that the module imports
    if what in ("run", "all"):
        Observer.__exit__ = never  # type: ignore[method-assign]
    if what == "run":
        setattr(run, "latest_end", lambda plan: 20.0)  # noqa: B010
    if what == "all":
        watchdog.Watchdog.arm = never_armed  # type: ignore[method-assign]
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


begin(os.environ.get("HANGS", ""))

if __name__ == "__main__":
    sys.argv = sys.argv[2:]  # without `-m`
    runpy.run_module(sys.argv[0], run_name="__main__")
