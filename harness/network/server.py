"""The Toxiproxy server of one cluster: where its program is, and how it is started."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.network.program import PROGRAM, server_options
from fencepost.harness.network.toxiproxy import Toxiproxy
from fencepost.harness.processes.command import Command

BESIDE_THE_PROJECT = Path(__file__).parents[3] / ".tools" / "bin" / PROGRAM
READY_WITHIN = 10.0


def find_toxiproxy() -> Path:
    """`$FENCEPOST_TOXIPROXY`, else on the PATH, else the one that `make` built into `.tools/bin`."""
    named = os.environ.get("FENCEPOST_TOXIPROXY")
    if named:
        if not os.access(named, os.X_OK):
            raise InfrastructureError(f"FENCEPOST_TOXIPROXY={named} is no program that can be run: correct or unset it")
        return Path(named)
    if on_path := shutil.which(PROGRAM):
        return Path(on_path)
    if os.access(BESIDE_THE_PROJECT, os.X_OK):
        return BESIDE_THE_PROJECT
    raise InfrastructureError(
        f"there is no {PROGRAM}, neither on the PATH nor at {BESIDE_THE_PROJECT}: build it with "
        "`make conformance` (needs Go), or name one in FENCEPOST_TOXIPROXY"
    )


def server_command(api: Endpoint) -> Command:
    """Return the command that starts it. Its log is read, so it writes all that it does by default."""
    return Command([str(find_toxiproxy()), *server_options(api)], {"LOG_LEVEL": "info"})


def await_version(toxiproxy: Toxiproxy) -> str:
    """Wait until the server answers. Raises InfrastructureError after 10 s."""
    deadline = time.monotonic() + READY_WITHIN
    while True:
        try:
            return toxiproxy.version()
        except InfrastructureError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
