"""The Toxiproxy server of one cluster: where its program is, and how it is started."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.network.program import GET, PROGRAM, WITH_MESSAGES, server_options
from fencepost.harness.network.toxiproxy import Toxiproxy, WrongRelease
from fencepost.harness.processes.command import Command

_PROJECT = Path(__file__).parents[3]
BESIDE_THE_PROJECT = _PROJECT / ".tools" / "bin" / PROGRAM if (_PROJECT / "Makefile").exists() else None
"""The one that `make` built, in a source tree; None in an installed package."""
READY_WITHIN = 10.0
MESSAGES_REMEDY = (
    "by a build of faults/messages/toxiproxy of a source tree with Go, named in FENCEPOST_TOXIPROXY"
    if BESIDE_THE_PROJECT is None
    else f"by `make conformance` in {_PROJECT}, with no other {PROGRAM} on the PATH and FENCEPOST_TOXIPROXY unset"
)


class NoToxiproxy(InfrastructureError):
    """There is no server that can be used. `what` says why; the whole message also how to get one."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}. Get it {how_to_get()}")
        self.what = what


def find_toxiproxy() -> Path:
    """`$FENCEPOST_TOXIPROXY`, else on the PATH, else the one that `make` built into `.tools/bin`."""
    named = os.environ.get("FENCEPOST_TOXIPROXY")
    if named:
        if not os.access(named, os.X_OK):
            raise InfrastructureError(f"FENCEPOST_TOXIPROXY={named} is no program that can be run: correct or unset it")
        return Path(named)
    if on_path := shutil.which(PROGRAM):
        return Path(on_path)
    if BESIDE_THE_PROJECT is not None and os.access(BESIDE_THE_PROJECT, os.X_OK):
        return BESIDE_THE_PROJECT
    built = f", nor at {BESIDE_THE_PROJECT}" if BESIDE_THE_PROJECT else ""
    raise NoToxiproxy(f"FENCEPOST_TOXIPROXY is not set, and there is no {PROGRAM} on the PATH{built}")


def how_to_get() -> str:
    """Return what to do without a Toxiproxy, or with a wrong one."""
    by_make = "" if BESIDE_THE_PROJECT is None else f"by `make conformance` in {_PROJECT}; or "
    return f"{by_make}{GET}"


def server_command(api: Endpoint) -> Command:
    """Return the command that starts it. Its log is read, so it writes all that it does by default."""
    return Command([str(find_toxiproxy()), *server_options(api)], {"LOG_LEVEL": "info"})


def await_version(toxiproxy: Toxiproxy, alive: Callable[[], bool] = lambda: True) -> str:
    """Wait until the server answers. Raises InfrastructureError after 10 s, or when it is not `alive` any more."""
    deadline = time.monotonic() + READY_WITHIN
    while True:
        try:
            return toxiproxy.version()
        except WrongRelease as error:
            raise NoToxiproxy(f"{find_toxiproxy()} is of another release: {error}") from error
        except InfrastructureError:
            if not alive() or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def without_messages() -> str | None:
    """Return why the server that runs would use cannot decide on single messages; None if it can."""
    try:
        program = find_toxiproxy()
    except InfrastructureError as error:
        return str(error)
    version = _version_of(program, program.stat().st_mtime_ns)
    if version == WITH_MESSAGES:
        return None
    return f"{program} is of version {version}, and only {WITH_MESSAGES} knows messages: get it {MESSAGES_REMEDY}"


@cache
def _version_of(program: Path, changed_ns: int) -> str:
    """Return the version that a program names, or why it names none. `changed_ns`: when the program was changed."""
    try:
        done = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=READY_WITHIN)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"unknown ({error})"
    return (done.stdout.split() or ["unknown"])[-1]
