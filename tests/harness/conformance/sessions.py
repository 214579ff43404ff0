"""pytest sessions of their own, in which tests try the plugin."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

LEAN = tuple(word for name in ("hypothesispytest", "pytest_cov", "asyncio") for word in ("-p", f"no:{name}"))
"""Plugins that no such session needs, and that take most of its time to import."""


def session(where: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder, and return how it ended and what it printed.

    With a temporary folder of its own it removes none of other sessions: it would warn of what it cannot remove there.
    """
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--basetemp", str(where / ".temporary")]
    command += [*LEAN, *arguments]
    return subprocess.run(
        command,
        cwd=where,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
