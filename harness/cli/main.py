"""The command `fencepost`: real clusters, broken on purpose, judged by the rules.

Commands import what they need when they are called, so that `fencepost --help` is quick.
"""

from __future__ import annotations

import errno
import signal
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from harness.cli import campaign, hand, machine, runs, signals, suite

HELP = """Start real Kafka-like clusters, break them on purpose, and say which rules held.

[bold]Begin here[/bold]
  fencepost doctor                      what works on this machine
  fencepost stories                     what there is to try
  fencepost run refused-duplicate       one story: a cluster, its faults, a verdict
  fencepost up                          a cluster to break by hand
  fencepost COMMAND --help              with examples
"""
EXIT_CODES = """
[bold]Exit codes[/bold]  0 pass · 1 violation · 2 infrastructure, or wrong usage · 3 inconclusive · 4 recheck differs
"""


class Commands(TyperGroup):
    """Asked to end, a command ends with the exit code of what it did so far."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise typer.Exit(_interrupted(interrupt)) from interrupt


app = typer.Typer(
    name="fencepost",
    cls=Commands,
    help=HELP,
    epilog=EXIT_CODES,
    rich_markup_mode="rich",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
suite.register(app)
campaign.register(app)
runs.register(app)
hand.register(app)
machine.register(app)


def main() -> None:
    """Run the command that the arguments of this process name."""
    signals.heed()
    run_command(sys.argv[1:])


def run_command(arguments: Sequence[str]) -> NoReturn:
    """Raises SystemExit. What is foreseen ends in one sentence and exit code 2; so does a defect, and shows itself: 1
    would say that the target broke a rule."""
    try:
        app(list(arguments), prog_name="fencepost")
    except Exception as error:
        if not _foreseen(error):
            traceback.print_exc()
        print(f"fencepost: {error}", file=sys.stderr)
        sys.exit(2)
    sys.exit(0)


def _foreseen(error: Exception) -> bool:
    from faults.capabilities import CapabilityError
    from harness.errors import HarnessError
    from harness.plan import PlanError
    from results.records.folder import FolderError
    from results.records.journal import JournalError
    from suites.requirements import CatalogueError

    sentences = HarnessError | CapabilityError | PlanError | FolderError | JournalError | CatalogueError
    if isinstance(error, OSError):
        # The system's own refusals (no such file, no permission) name the place themselves, but for a full disk.
        return error.filename is not None or error.errno in (errno.ENOSPC, errno.EDQUOT)
    return isinstance(error, sentences)


def _interrupted(interrupt: KeyboardInterrupt) -> int:
    """The exit code. A run that was interrupted has a verdict like any other, and says so."""
    if type(interrupt) in (KeyboardInterrupt, signals.Asked):
        return getattr(interrupt, "exit_code", 128 + signal.SIGINT)
    from harness.cli.verdicts import show_verdict
    from harness.run import Interrupted
    from harness.terminal import terminal

    assert isinstance(interrupt, Interrupted)
    show_verdict(terminal(), interrupt.folder, interrupt.verdict)
    return interrupt.verdict.verdict.exit_code
