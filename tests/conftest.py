"""The tests do not depend on how they were started: what they start is to heed the signals that they send."""

from __future__ import annotations

import signal

from hypothesis import settings

# A slow machine is no counterexample.
settings.register_profile("fencepost", deadline=None)
settings.load_profile("fencepost")


def pytest_configure() -> None:
    """`nohup`, and a shell without job control, let all that they start ignore these."""
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
