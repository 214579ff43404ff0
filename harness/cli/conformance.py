"""`fencepost conformance`: the suites, run by pytest in a separate process, and shown as they go."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from _pytest.mark.expression import Expression
from rich.console import Console, RenderableType
from rich.table import Table

import fencepost.suites
from fencepost.harness.backends import backend_for, check_backend, prepare
from fencepost.harness.catalogue import catalogue
from fencepost.harness.cli.board import Board
from fencepost.harness.cli.commands.scenarios import ConformanceOptions
from fencepost.harness.cli.display import Display
from fencepost.harness.cli.index import write_pages
from fencepost.harness.cli.publish import check_store, publish_at_end
from fencepost.harness.cli.signals import at_once
from fencepost.harness.cli.suite_outputs import CiOutputs, SuiteOutputs, scenario_results
from fencepost.harness.cli.summary import summary as lines_of
from fencepost.harness.conformance.options import SessionOptions
from fencepost.harness.conformance.quarantine import Quarantine
from fencepost.harness.conformance.shards import check as check_shard
from fencepost.harness.disk_space import check_disk_space
from fencepost.harness.engine.ci_job import ci_job
from fencepost.harness.errors import InfrastructureError, UsageError
from fencepost.harness.plan.security import spelled_out
from fencepost.harness.processes.interrupts import end_on_interrupt
from fencepost.harness.report.suite_results import SuiteResult
from fencepost.harness.targets.consent import consented, give_consent
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.reference import plant
from fencepost.harness.targets.registry import load
from fencepost.harness.targets.securing import check_security, security_for
from fencepost.harness.terminal import counted, terminal, width_for_text
from fencepost.results.records.progress import VARIABLE, new_lines
from fencepost.results.records.verdict import Verdict

POLL = 0.1
NO_TESTS = 5
"""Exit code of pytest if no test was selected."""
GRACE = 30.0
"""Seconds in which the test processes have to end their clusters after an interrupt."""
QUICK = ("--assert=plain", "-p", "no:hypothesispytest", "-p", "no:pytest_cov", "-p", "no:asyncio")
"""Options that turn off pytest features which no scenario uses; their processor time would be missing to the nodes."""


def conformance(options: ConformanceOptions) -> int:
    """Run the suites against a target and return the exit code of the worst verdict."""
    plant(options.mutant)
    give_consent(options.owned)
    catalogue()  # a mistake in it is one message here, and would be a traceback in each test
    return run_suites(options, Path(next(iter(fencepost.suites.__path__))), terminal())


def run_suites(options: ConformanceOptions, suites: Path, console: Console) -> int:
    """Run every scenario that the options select; return the exit code of the worst verdict.

    After Ctrl-C it ends all clusters, writes the outputs and raises KeyboardInterrupt. UsageError if the backend does
    not exist or no scenario matches, InfrastructureError if pytest itself failed.
    """
    session = options.session
    outputs = SuiteOutputs(
        options.json, options.junitxml, CiOutputs(options.summary, options.annotations), options.publish
    )
    check_backend(session.backend)
    check_disk_space(session.runs)
    target = load(session.target)
    if target.file.running is not None:
        consented(target.file.name)
        if options.workers > 1:
            raise UsageError(f"{target.file.name} is one cluster, for one scenario at a time: leave --workers out")
    check_security(target, spelled_out(security_for(target.file, session.security)))
    _check_selection(options)
    quarantined = _quarantined(session, target.file.name, console)
    outputs.check()
    check_store(outputs.publish)
    prepare(session.backend, target)
    workers = options.workers or side_by_side(target.file, len(os.sched_getaffinity(0)))
    console.print(
        _header(session, f"{target.file.name} {target.version}", backend_for(target, session.backend), workers)
    )
    started, board = time.time(), Board(time.monotonic(), quarantined=quarantined)
    code, output, interrupt = _run(options, suites, workers, board, console)
    if interrupt is None:
        _check_collected(board, options, code, output)
        board.close()
    result = SuiteResult(
        target=target.file.name,
        target_version=target.version,
        backend=backend_for(target, session.backend),
        seed=session.seed,
        started=started,
        seconds=round(time.monotonic() - board.began, 1),
        scenarios=scenario_results(board),
        selection=options.only,
        shard=session.shard,
        interrupted=interrupt is not None,
        ci=ci_job(),
    )
    if interrupt is not None:
        write_pages(outputs.write(result, session.runs, console), session.runs)
        _publish(board, outputs, console)
        raise interrupt
    for rendered in lines_of(board, time.monotonic(), width_for_text(console)):
        console.print(rendered, highlight=False, soft_wrap=not console.is_terminal)
    folder = outputs.write(result, session.runs, console)
    console.print(f"{'results':<15}{folder}", highlight=False, soft_wrap=True)
    console.print(f"{'page':<15}{write_pages(folder, session.runs)}", highlight=False, soft_wrap=True)
    verdict = Verdict.worst((board.verdict, _publish(board, outputs, console)))
    if board.verdict is Verdict.PASS and code != 0:
        raise InfrastructureError(f"every judged scenario passed, but pytest ended with {code}:\n{output[-3000:]}")
    console.print(f"exit code {verdict.exit_code}", highlight=False)
    return verdict.exit_code


def _publish(board: Board, outputs: SuiteOutputs, console: Console) -> Verdict:
    """Publish the runs of the suite, if that is wanted."""
    folders = [Path(row.run) for row in board.rows.values() if row.run is not None]
    if outputs.publish is None or not folders:
        return Verdict.PASS
    return publish_at_end(folders, outputs.publish, console)


def _quarantined(session: SessionOptions, target: str, console: Console) -> Mapping[str, str]:
    """Return the scenarios in quarantine, with the reasons; name the entries that have expired."""
    if session.quarantine is None:
        return {}
    quarantine = Quarantine.load(session.quarantine)
    for entry in quarantine.expired(target, session.backend):
        console.print(f"the quarantine of {entry.scenario} expired on {entry.expires}: it counts", highlight=False)
    return quarantine.active(target, session.backend)


def side_by_side(target: TargetFile, cores: int) -> int:
    """Return how many clusters of the target this many cores carry."""
    return max(1, round(target.clusters_per_core * cores))


def _run(
    options: ConformanceOptions, suites: Path, workers: int, board: Board, console: Console
) -> tuple[int, str, KeyboardInterrupt | None]:
    """Run the session to its end, or to an interrupt; return the exit code and output of pytest, and the interrupt."""
    interrupt = None
    with tempfile.TemporaryDirectory(prefix="fencepost-") as scratch:
        progress, log = Path(scratch) / "progress.jsonl", Path(scratch) / "pytest.log"
        progress.touch()
        process = _start_pytest(options, suites, workers, progress, log)
        with at_once(lambda: os.killpg(process.pid, signal.SIGKILL)), progress.open() as lines:
            try:
                _watch(process, lines, board, console)
            except KeyboardInterrupt as raised:
                interrupt = raised
                for line in new_lines(lines):  # it may come before the first look at the progress
                    board.apply(line)
                console.print(
                    f"interrupted after {len(board.done)} of {len(board.rows)} scenarios: ending the clusters …"
                )
            finally:
                _end_pytest(process)
            for line in new_lines(lines):
                board.apply(line)
        return process.wait(), log.read_text(errors="replace"), interrupt


def _check_selection(options: ConformanceOptions) -> None:
    """UsageError if -k, --shard or --durations is wrong. In the session the workers of xdist would crash over it."""
    try:
        Expression.compile(options.only or "")
    except Exception as error:  # its type differs from release to release
        raise UsageError(f"-k {options.only!r} is no expression of names with and, or, not: {error}") from None
    check_shard(options.session.shard, options.session.durations, options.session.target)


def _check_collected(board: Board, options: ConformanceOptions, code: int, output: str) -> None:
    """UsageError if the options select no scenario, InfrastructureError if pytest ended before it collected any."""
    if board.rows:
        return
    if code == NO_TESTS and options.session.shard is not None:
        raise UsageError(
            f"the shard {options.session.shard} has no scenario: use fewer shards, or select more scenarios"
        )
    if code == NO_TESTS:
        raise UsageError(f"no scenario matches {options.only!r}: `fencepost scenarios` lists them")
    raise InfrastructureError(f"the suite did not start, pytest ended with {code}:\n{output[-3000:]}")


def _header(session: SessionOptions, target: str, backend: str, workers: int) -> RenderableType:
    nodes_run_as = {"process": "processes", "docker": "containers"}.get(backend, backend)
    shard = f" · shard {session.shard}" if session.shard is not None else ""
    security = f" · {session.security}" if session.security is not None else ""
    header = Table.grid(expand=True)
    header.add_column(ratio=1)
    header.add_column(justify="right")
    header.add_row(
        f"[bold]fencepost[/bold] · {target} · {nodes_run_as}{security} · seed {session.seed}{shard}",
        f"{counted(len(os.sched_getaffinity(0)), 'core')}, "
        f"{counted(workers, 'cluster')} {'side by side' if workers > 1 else 'at a time'}",
    )
    return header


def _watch(process: subprocess.Popen[bytes], lines: IO[str], board: Board, console: Console) -> None:
    with Display(console, board) as display:
        over = False
        while not over:
            over = process.poll() is not None  # read once more after the end
            for line in new_lines(lines):
                display.update(board.apply(line), time.monotonic())
            display.refresh(time.monotonic())
            if not over:
                time.sleep(POLL)


def _start_pytest(
    options: ConformanceOptions, suites: Path, workers: int, progress: Path, log: Path
) -> subprocess.Popen[bytes]:
    """Start the session. It appends its progress to one file, and what pytest prints to another."""
    with log.open("wb") as output:
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "pytest", str(suites), *_pytest_arguments(options, suites)),
                *("-n", str(workers)),
                # Else xdist makes a folder beside those of other sessions of this user, and leaves it there.
                f"--basetemp={log.with_name('basetemp')}",
            ],
            env={**os.environ, VARIABLE: str(progress)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            process_group=0,
            preexec_fn=end_on_interrupt,
        )


def _end_pytest(process: subprocess.Popen[bytes]) -> None:
    """Interrupt the tests as Ctrl-C would, so that they end their clusters; kill them after GRACE."""
    if process.poll() is not None:
        return
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _pytest_arguments(options: ConformanceOptions, suites: Path) -> Iterator[str]:
    # Named, because pytest looks for it from every argument that exists as a path, also from the value of --runs.
    yield from ("-c", str(suites / "pytest.ini"))
    yield from options.session.arguments()
    if options.only:
        yield from ("-k", options.only)
    if options.junitxml is not None:
        yield f"--junitxml={options.junitxml}"
    yield from ("--dist", "worksteal", "-q", *QUICK)
