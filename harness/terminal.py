"""What the commands print to."""

from __future__ import annotations

import os
import sys

from rich.console import Console

WIDTH_OF_A_LOG = 120
"""Columns where there is no terminal to ask: lines of a log need not be cut at 80."""


def terminal() -> Console:
    """Standard output; colours and live displays only on a terminal."""
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(highlight=False, width=None if known else WIDTH_OF_A_LOG)
