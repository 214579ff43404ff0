"""The command `fencepost`: real clusters, broken on purpose, judged by the rules."""

from __future__ import annotations

import errno
import platform
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from fencepost.harness.cli import signals
from fencepost.harness.cli.closed_output import give_up_output
from fencepost.harness.cli.command import KEEP_INDENT, add_commands, add_group, without_types
from fencepost.harness.cli.commands import compare, fleet, interactive, machine, runs, scenarios, store, targets
from fencepost.harness.errors import DamagedResults, HarnessError, UsageError
from fencepost.results.records.folder import FolderError
from fencepost.results.records.verdict import DAMAGED, WRONG_USAGE

HELP = """Start real Kafka-like clusters, break them on purpose, and say which rules held.

[bold]Begin here[/bold]
  fencepost doctor                  what works on this machine
  fencepost scenarios               the scenarios to choose from
  fencepost run refused-duplicate   one scenario: cluster, faults, verdict
  fencepost up                      a cluster to break from another terminal
  fencepost COMMAND --help          the help of a command, with examples
"""
EXIT_CODES = """
[bold]Exit codes[/bold]  0 pass · 1 violation · 2 infrastructure · 3 inconclusive · 4 recheck differs · 64 wrong usage ·
65 damaged store
"""


ParserError: Any = typer.BadParameter.__base__
"""The base of all errors of typer about options and arguments. Its own name is private to typer."""


@contextmanager
def _usage_exit_code() -> Iterator[None]:
    """Give an error about options or arguments our exit code in place of typer's 2, which means infrastructure here."""
    try:
        yield
    except ParserError as error:
        error.exit_code = WRONG_USAGE
        raise


class CommandGroup(TyperGroup):
    """Ends with the exit code of a signal after Ctrl-C, SIGTERM or SIGHUP, and with 64 after wrong usage."""

    def get_params(self, ctx: Any) -> Any:
        return without_types(super().get_params(ctx))

    def make_context(self, *args: Any, **extra: Any) -> Any:
        with _usage_exit_code():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        try:
            with _usage_exit_code():
                try:
                    return super().invoke(ctx)
                finally:
                    sys.stdout.flush()  # a pipe that is closed is noticed here, and not when the interpreter ends
        except KeyboardInterrupt as interrupt:
            raise typer.Exit(getattr(interrupt, "exit_code", 128 + signal.SIGINT)) from interrupt
        except BrokenPipeError as error:
            give_up_output()
            raise typer.Exit(128 + signal.SIGPIPE) from error


app = typer.Typer(
    name="fencepost",
    cls=CommandGroup,
    help=HELP + KEEP_INDENT,
    epilog=EXIT_CODES,
    rich_markup_mode="rich",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata  # only here: the help has no use for it

        print(f"fencepost {metadata.version('fencepost')}, Python {platform.python_version()}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Declare the options of the command itself. `HELP` is its help."""


add_commands(
    app,
    "Scenarios",
    scenarios.ConformanceOptions,
    scenarios.ScenariosOptions,
    scenarios.ReleasesOptions,
    scenarios.ExplainOptions,
    scenarios.PlanOptions,
    scenarios.CampaignOptions,
)
add_commands(
    app,
    "Runs",
    runs.RunOptions,
    runs.ReplayOptions,
    runs.RecheckOptions,
    runs.ShrinkOptions,
    runs.BundleOptions,
    runs.ReportOptions,
    compare.CompareOptions,
)
add_commands(
    app,
    "Interactive cluster",
    interactive.UpOptions,
    interactive.InjectOptions,
    interactive.FaultsOptions,
    interactive.HealOptions,
    interactive.StartOptions,
    interactive.StatusOptions,
)
add_commands(
    app, "Results of many runs", runs.IndexOptions, store.PublishOptions, store.TrendsOptions, store.ShowOptions
)
add_group(
    app,
    "Results of many runs",
    "results",
    "Look after a results store, and import the results of other suites.",
    store.CompactOptions,
    store.ExpireOptions,
    store.CheckOptions,
    store.ImportOptions,
    store.QuarantineOptions,
)
add_group(
    app,
    "Results of many runs",
    "fleet",
    "Look at campaigns of many nights, on one machine or on many.",
    fleet.StatusOptions,
)
add_group(app, "This machine", "target", "Write target files.", targets.InitOptions)
add_commands(app, "This machine", machine.CleanOptions, machine.DoctorOptions)


def main() -> None:
    """Run the command that the arguments of this process name."""
    signals.install_handlers()
    run_command(sys.argv[1:])


def run_command(arguments: Sequence[str]) -> NoReturn:
    """Run a command and raise SystemExit with its exit code.

    Wrong usage ends in one message and exit code 64, a store with damaged files in 65, any other error of the harness
    in 2. A defect ends in its traceback and exit code 2 as well, because 1 would mean that the target broke a rule.
    """
    try:
        app(list(arguments), prog_name="fencepost")
    except Exception as error:
        if not _expected(error):
            traceback.print_exc()
        print(f"fencepost: {error}", file=sys.stderr)
        sys.exit(_exit_code(error))
    sys.exit(0)


def _exit_code(error: Exception) -> int:
    if isinstance(error, UsageError | FolderError):
        return WRONG_USAGE
    return DAMAGED if isinstance(error, DamagedResults) else 2


def _expected(error: Exception) -> bool:
    """Return whether the message alone says what is wrong, so that a traceback would only hide it."""
    if isinstance(error, OSError):
        # Refusals of the system (no such file, no permission) name the file themselves; a full disk names none.
        return error.filename is not None or error.errno in (errno.ENOSPC, errno.EDQUOT)
    # Only here, because the help has no use for them.
    from fencepost.faults.capabilities import CapabilityError
    from fencepost.results.records.journal import JournalError

    return isinstance(error, HarnessError | CapabilityError | FolderError | JournalError)
