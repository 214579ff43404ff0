"""The command `fencepost`: real clusters, broken on purpose, judged by the rules.

Commands import what they need when they are called, so that `fencepost --help` is quick.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

import typer

from harness.cli import hand, machine, runs, suite

EXIT_CODES = """
[bold]Exit codes[/bold]  0 pass · 1 violation · 2 infrastructure, or wrong usage · 3 inconclusive
"""

app = typer.Typer(
    name="fencepost",
    help="Start real Kafka-like clusters, break them on purpose, and say which rules held.",
    epilog=EXIT_CODES,
    rich_markup_mode="rich",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
suite.register(app)
runs.register(app)
hand.register(app)
machine.register(app)


def main() -> None:
    """Run the command that the arguments of this process name."""
    signal.signal(signal.SIGTERM, _terminated)
    run_command(sys.argv[1:])


def run_command(arguments: Sequence[str]) -> NoReturn:
    """Raises SystemExit. What is foreseen ends in one sentence and exit code 2."""
    try:
        app(list(arguments))
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    except Exception as error:
        if not _foreseen(error):
            raise
        print(f"fencepost: {error}", file=sys.stderr)
        sys.exit(2)
    sys.exit(0)


def _foreseen(error: Exception) -> bool:
    from faults.capabilities import CapabilityError
    from harness.errors import HarnessError
    from harness.plan import PlanError
    from results.records.folder import FolderError
    from results.records.journal import JournalError

    sentences = HarnessError | CapabilityError | PlanError | FolderError | JournalError
    # The system's own refusals (no such file, no permission, no space) name the place themselves.
    return isinstance(error, sentences) or (isinstance(error, OSError) and error.filename is not None)


def _terminated(number: int, frame: FrameType | None) -> None:
    """As Ctrl-C does, let every `with` end what it started."""
    raise SystemExit(128 + number)
