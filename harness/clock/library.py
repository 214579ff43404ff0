"""The library that stands in front of a node's wall clock: compiled once, into the cache."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from fencepost.harness.cache_folder import cache_folder
from fencepost.harness.errors import InfrastructureError

SOURCE = Path(__file__).with_name("shim.c")
FLAGS = ("-O2", "-Wall", "-shared", "-fPIC")
LIBRARIES = ("-ldl",)
"""glibc has it in itself only since 2.34."""


def unavailable_reason() -> str | None:
    """Why no node can have a wall clock of its own here; None if it can."""
    if not sys.platform.startswith("linux"):
        return f"a node's own wall clock is a library for Linux, and this is {sys.platform}"
    if _built().exists() or _compiler() is not None:
        return None
    named = os.environ.get("CC")
    which = f"CC={named} is no program that can be run" if named else "there is no C compiler (cc) on the PATH"
    return f"{which}, and a node's own wall clock is a library that is compiled once: apt-get install gcc libc6-dev"


def library() -> Path:
    """The compiled library; InfrastructureError if it is not there and cannot be made.

    Its name says what it was made from, so that another source gets another file, and no running node loses its own.
    """
    built = _built()
    if built.exists():
        return built
    reason = unavailable_reason()
    if reason is not None:
        raise InfrastructureError(reason)
    built.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=built.parent, prefix="making-") as folder:
        made = Path(folder, built.name)
        command = [*(_compiler() or ()), *FLAGS, "-o", str(made), str(SOURCE), *LIBRARIES]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise InfrastructureError(
                f"a node's own wall clock could not be compiled ({shlex.join(command)}): {done.stderr.strip()[-300:]}; "
                "apt-get install gcc libc6-dev, or name a compiler in CC"
            )
        made.chmod(0o755)
        made.replace(built)
    return built


def _compiler() -> list[str] | None:
    words = shlex.split(os.environ.get("CC", "")) or ["cc"]
    return words if shutil.which(words[0]) else None


def _built() -> Path:
    made_from = hashlib.sha256(SOURCE.read_bytes() + repr((FLAGS, os.uname().machine)).encode())
    return cache_folder() / "clock" / f"wall-clock-{made_from.hexdigest()[:12]}.so"
