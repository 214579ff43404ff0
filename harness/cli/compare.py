"""`fencepost compare`: the answers of several targets to the same requests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table as TerminalTable

from fencepost.harness.cli.commands.compare import CompareOptions
from fencepost.harness.cli.plan import PLAN_FILE, plan_to_run
from fencepost.harness.cli.run_display import RunDisplay
from fencepost.harness.cli.run_progress import RunProgress
from fencepost.harness.comparison.answers import Answers, merged, read_answers
from fencepost.harness.comparison.asking import ask_all
from fencepost.harness.comparison.data import as_data
from fencepost.harness.comparison.listed import ListedAnswers
from fencepost.harness.comparison.markdown import in_markdown
from fencepost.harness.comparison.masks import FIELDS
from fencepost.harness.comparison.page import write_page
from fencepost.harness.comparison.placed import placed
from fencepost.harness.comparison.questions import questions
from fencepost.harness.comparison.table import Row, Table, table_of
from fencepost.harness.engine.run import NoProgress, check_plan
from fencepost.harness.errors import UsageError
from fencepost.harness.plan.model import Plan
from fencepost.harness.targets.registry import open_run
from fencepost.harness.terminal import console_beside, counted
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.verdict import RunVerdict, Verdict

APACHE_KAFKA = "apache-kafka"
MOST_DIFFERENCES = 3
"""Differing values of one cell that the terminal shows; the other outputs have all."""


def compare(options: CompareOptions) -> int:
    """Ask each target, and show where answers differ. Return 0, 1 for a difference that no target file lists, 3 if
    nothing was compared. UsageError before anything starts if a target cannot be asked so.
    """
    console = console_beside(options.as_json)
    sources = [(each, _plans(each, options)) for each in _targets(options)]
    answers = [merged([_answers(plan, options, console) for plan in plans]) for _, plans in sources]
    table = table_of(answers, ListedAnswers())
    if options.markdown is not None:
        options.markdown.write_text(in_markdown(table), encoding="utf-8")
    if options.html is not None:
        write_page(table, options.html)
    if options.as_json:
        print(json.dumps(as_data(table), indent=2))
    else:
        _show(table, console, show_all=options.show_all)
    return table.exit_code


def _targets(options: CompareOptions) -> list[str]:
    if options.releases is not None:
        if options.targets is not None:
            raise UsageError("--release-to-release names the targets: leave --targets out")
        return [f"{APACHE_KAFKA}:{release}" for release in options.releases]
    named = [each for each in (options.targets or "").split(",") if each]
    if len(named) < 2:
        raise UsageError(
            "name two targets or more, such as --targets apache-kafka:4.4.0,quorum, or --release-to-release 4.3.1 4.4.0"
        )
    return named


def _plans(target: str, options: CompareOptions) -> list[Plan | Path]:
    """Return what is run on a target, each checked; or the folder of the run that is compared in its place."""
    if Path(target).is_dir():
        return [Path(target)]
    plans: list[Plan | Path] = []
    for source in options.plans or [""]:
        plan = _plan(source, target, options)
        check_plan(plan)
        plans.append(plan)
    return plans


def _plan(source: str, target: str, options: CompareOptions) -> Plan:
    if not source:
        return questions(target, options.only or ())
    if source.endswith(PLAN_FILE):
        return placed(plan_to_run(source, None, options.seed), target)
    return plan_to_run(source, target, options.seed)


def _answers(source: Plan | Path, options: CompareOptions, console: Console) -> Answers:
    if isinstance(source, Path):
        kept = read_answers(open_run(source))
        return kept.only(options.only) if options.only else kept
    console.print(f"asking {source.target} …")
    folder, verdict = _asked(source, options, console)
    if verdict.verdict in (Verdict.INFRASTRUCTURE, Verdict.VIOLATION):
        console.print(f"{verdict.verdict.value:<15}{verdict.headline}  {folder.path}", markup=False)
    return read_answers(folder)


def _asked(plan: Plan, options: CompareOptions, console: Console) -> tuple[RunFolder, RunVerdict]:
    """Run a plan. A log gets no line for each of its probes: there are hundreds."""
    if not console.is_terminal:
        return ask_all(plan, options.runs, options.backend, NoProgress())
    with RunDisplay(console, RunProgress.of(plan, options.runs)) as display:
        return ask_all(plan, options.runs, options.backend, display)


def _show(table: Table, console: Console, *, show_all: bool) -> None:
    shown = [row for row in table.rows if show_all or row.kind != "same"]
    if shown:
        grid = TerminalTable(box=box.SIMPLE_HEAD)
        grid.add_column("probe", no_wrap=True)
        for target in table.targets:
            grid.add_column(target)
        grid.add_column("difference")
        for row in shown:
            grid.add_row(row.name, *(_cell(cell.short, cell.is_new) for cell in row.cells), row.kind)
        console.print(grid)
    for row in shown:
        for line in _lines(row, table.targets):
            console.print(line, markup=False)
    for mask in sorted(table.masks):
        console.print(f"masked as <{mask}>: {', '.join(sorted(FIELDS[mask]))}", markup=False, style="dim")
    console.print(
        f"{counted(len(table.rows), 'row')}: {table.count('same')} the same, {table.count('listed')} with listed "
        f"differences, {table.count('different')} with others"
    )
    for target, folder in zip(table.targets, table.folders, strict=True):
        console.print(f"{target:<24} {folder}", markup=False)


def _cell(short: str, is_new: bool) -> str:
    return f"[red]{short}[/red]" if is_new else short


def _lines(row: Row, targets: Sequence[str]) -> Iterator[str]:
    """Yield what differs in a row, and what took long."""
    for target, cell in zip(targets, row.cells, strict=True):
        for each in cell.differs[:MOST_DIFFERENCES]:
            yield f"{row.name}  {target}  {each}{f'  ({cell.reason})' if cell.reason else ''}"
        if (more := len(cell.differs) - MOST_DIFFERENCES) > 0:
            yield f"{row.name}  {target}  and {more} more"
        if cell.slower:
            yield f"{row.name}  {target}  took {cell.answer.seconds:.2f} s, {cell.slower:g} times as long"
