"""The command line and the suites can be imported where an optional library is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_suites_are_read_on_a_machine_without_libfuse() -> None:
    without = (
        "import sys; sys.modules['mfusepy'] = None; "
        "import fencepost.harness.cli.main, fencepost.harness.engine.run, fencepost.suites"
    )
    subprocess.run([sys.executable, "-c", without], cwd=ROOT, check=True, capture_output=True)
