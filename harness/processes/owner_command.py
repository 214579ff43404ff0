"""Commands by which the owner of brokers that run elsewhere breaks them and brings them back."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO

SECONDS = 120


def problem_of(argv: Sequence[str], folder: Path | str, output: IO[bytes] | None = None) -> str | None:
    """Run a command in a folder, for `SECONDS` at most. Return what went wrong, as the rest of a message; None if it
    ended with 0."""
    try:
        done = subprocess.run(
            argv,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if output is None else output,
            stderr=subprocess.DEVNULL if output is None else subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"did not end within {SECONDS} s"
    except OSError as error:
        return f"could not be run: {error}"
    return f"ended with {done.returncode}" if done.returncode else None
