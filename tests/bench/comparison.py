"""How long the probes of `fencepost compare` take on running brokers: both of a pair, for 250 probes."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from rich.table import Table

from fencepost.harness.comparison.answers import PREPARES
from fencepost.harness.comparison.asking import ask_all
from fencepost.harness.comparison.questions import questions
from fencepost.harness.engine.run import NoProgress
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import read_journal

PROBES = 250


def seconds_of(folder: RunFolder) -> tuple[float, int]:
    """Return the time from the first probe of a run to the end of the last one, and their number."""
    asked = [event for event in read_journal(folder.journal).of("op") if event.data.get("f") == "probe"]
    steps = {str(event.data["step"]) for event in asked}
    return asked[-1].t - asked[0].t, sum(not step.startswith(PREPARES) for step in steps)


def measure(*targets: str) -> Table:
    """Ask each target all probes on a cluster of its own."""
    shown = Table(title="probes of compare, with what prepares them: one run", title_justify="left")
    for heading in ("", "probes", "s", f"s for {PROBES}"):
        shown.add_column(heading, justify="right" if heading else "left")
    pair = 0.0
    for target in targets:
        with TemporaryDirectory() as runs:
            folder, _ = ask_all(questions(target), Path(runs), "process", NoProgress())
            seconds, probes = seconds_of(folder)
        pair += seconds * PROBES / probes
        shown.add_row(target, str(probes), f"{seconds:.1f}", f"{seconds * PROBES / probes:.1f}")
    shown.add_row("the pair", "", "", f"{pair:.1f}")
    return shown
