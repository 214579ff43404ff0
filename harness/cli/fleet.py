"""`fencepost campaign --on MASTER`: random plans on the executors of a Spark cluster, in rounds."""

from __future__ import annotations

import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from fencepost.harness.backends import check_backend, prepare
from fencepost.harness.campaign.campaign import Campaign, Order
from fencepost.harness.campaign.planner import VERSION, LeftOut, left_out
from fencepost.harness.campaign.summary import PlanOutcome, Summary
from fencepost.harness.cli.ages import hours
from fencepost.harness.cli.board import Row
from fencepost.harness.cli.campaign_summary import shown
from fencepost.harness.cli.commands.scenarios import CampaignOptions
from fencepost.harness.cli.conformance import side_by_side
from fencepost.harness.cli.display import print_finished
from fencepost.harness.cli.index import write_pages
from fencepost.harness.cli.publish import store_errors
from fencepost.harness.cli.suite_outputs import CiOutputs
from fencepost.harness.errors import InfrastructureError, UsageError
from fencepost.harness.fleet.causes import Cause
from fencepost.harness.fleet.fleet import Fleet, spark_context
from fencepost.harness.fleet.regressions import regressions
from fencepost.harness.fleet.task import Delivered
from fencepost.harness.targets.reference import with_defect
from fencepost.harness.targets.registry import load
from fencepost.harness.terminal import counted, terminal
from fencepost.results.records.files import read_json, write_json
from fencepost.results.records.progress import Phase
from fencepost.results.records.replay_command import replay_command
from fencepost.results.records.survey import CAMPAIGN_FILE
from fencepost.results.store.store import Store

if TYPE_CHECKING:
    from pyspark import SparkContext

MARGIN = 15
NEEDS_ON = ("resume", "budget", "until", "regressions")
"""Options that have a meaning with --on only."""
REFUSED = ("pairwise", "learn", "guidance", "workers")
"""Options that have no place beside --on."""


def on_a_fleet(options: CampaignOptions, order: Order, outputs: CiOutputs) -> int:
    """Run the rounds of a campaign; return the exit code of the worst verdict. Raise UsageError."""
    _check(options)
    until = None if options.until is None else _signatures_wanted(options.until)
    minutes = order.minutes if options.budget is None else hours(options.budget) * 60
    assert options.on is not None and options.publish is not None
    check_backend(order.backend)
    outputs.check()
    target = load(order.target)
    prepare(order.backend, target)
    cores = len(os.sched_getaffinity(0))
    order = replace(order, target=f"{target.file.name}:{target.version}", workers=0, minutes=minutes)
    folder = options.resume or Campaign.create(order, options.runs.absolute()).folder
    fleet = Fleet(
        order,
        folder.absolute(),
        Store.create(options.publish),
        options.plans_per_round,
        options.mutant or "",
        until,
    )
    console = Console(quiet=True) if options.as_json else terminal()
    console.print(
        f"[bold]fencepost campaign[/bold] · {order.target} · {order.backend} · seed {order.seed} · on {options.on} · "
        f"{fleet.folder}",
        highlight=False,
        soft_wrap=True,
    )
    cores_per_plan = max(1, cores // side_by_side(target.file, cores))
    with _spark(options.on, cores_per_plan, fleet.folder / "jvm.log") as spark, store_errors():
        _ask(fleet, spark, cores_per_plan, console)
        if options.regressions is not None:
            _regressions(fleet, spark, options.regressions, console)
        _rounds(fleet, spark, cores_per_plan, console, _begun(fleet, options))
        causes = _causes(fleet, spark, cores_per_plan, options.shrink_minutes, console)
    missing = left_out(target.file, order.backend, target.version, order.security, fleet.lacks)
    summary = _summary(fleet, tuple(missing))
    found = {"causes": [each.to_json() for each in causes], "executors_left_out": fleet.left_out}
    written = {**summary.to_json(), **found}
    write_json(fleet.folder / "summary.json", written)
    page = write_pages(fleet.folder, fleet.folder.parent)
    if options.as_json:
        print(json.dumps(written, indent=2))
    else:
        _show(fleet, summary, causes, page, console)
    outputs.write(summary.as_suite(), None, console)
    return summary.verdict.exit_code


def _check(options: CampaignOptions) -> None:
    if options.on is None:
        alone = " and ".join(f"--{each}" for each in NEEDS_ON if getattr(options, each))
        raise UsageError(f"{alone} is for a campaign on a Spark cluster: name it with --on spark://HOST:PORT")
    if options.publish is None:
        raise UsageError("--on mines the store between rounds: name one that all machines reach with --publish STORE")
    given = [f"--{each}" for each in REFUSED if getattr(options, each)]
    given += ["--plans-per-cluster"] if options.plans_per_cluster > 1 else []
    if given:
        raise UsageError(f"{', '.join(given)} cannot be had with --on: leave it out")
    if options.resume is not None and not (options.resume / CAMPAIGN_FILE).is_file():
        raise UsageError(f"{options.resume} is not the folder of a campaign: it has no {CAMPAIGN_FILE}")


def _signatures_wanted(text: str) -> int:
    """Return the number in `3-new-signatures`. Raise UsageError."""
    found = re.fullmatch(r"([1-9]\d{0,4})-new-signatures?", text)
    if found is None:
        raise UsageError(f"--until {text!r} is not known: write how many kinds of violations, as in 3-new-signatures")
    return int(found[1])


def _begun(fleet: Fleet, options: CampaignOptions) -> bool:
    """Return whether the campaign was begun before. Raise UsageError if it is another one than was asked for."""
    if options.resume is None:
        return False
    written = read_json(fleet.folder / CAMPAIGN_FILE)
    asked = {"planner": VERSION, **{each: getattr(fleet.order, each) for each in ("target", "backend", "seed")}}
    for name, value in asked.items():
        if written.get(name) != value:
            raise UsageError(
                f"{fleet.folder} is a campaign with {name} {written.get(name)}, and this one has {value}: begin anew "
                "without --resume, or give what it was begun with"
            )
    return True


def _ask(fleet: Fleet, spark: SparkContext, cores_per_plan: int, console: Console) -> None:
    """Have the executors try what plans need, and print what is left out that was not before."""
    out, lacks = dict(fleet.left_out), dict(fleet.lacks)
    fleet.ask(spark, cores_per_plan)
    for machine, reason in fleet.left_out.items() - out.items():
        console.print(f"{'left out':<{MARGIN}}the executor {machine}: {reason}", highlight=False, markup=False)
    for capability, reason in fleet.lacks.items() - lacks.items():
        console.print(f"{'left out':<{MARGIN}}faults of {capability.value}: {reason}", highlight=False, markup=False)


def _rounds(fleet: Fleet, spark: SparkContext, cores_per_plan: int, console: Console, begun: bool) -> None:
    going_on = fleet.take_up() if begun else None
    if begun:
        console.print(f"{'resumed':<{MARGIN}}after {counted(len(fleet.outcomes), 'plan')}", highlight=False)
    while going_on is not None or not fleet.over:
        _ask(fleet, spark, cores_per_plan, console)
        made, guidance = going_on or fleet.next_round()
        going_on = None
        before = len(fleet.outcomes)
        again = f", {len(made.again)} of them again" if made.again else ""
        console.print(
            f"{f'round {made.number}':<{MARGIN}}{counted(len(made.numbers) + len(made.again), 'plan')}{again}; "
            f"{counted(guidance.runs, 'random plan')} known, {counted(len(guidance.failures), 'kind')} of failures",
            highlight=False,
        )
        for task, verdict in fleet.run(spark, made, guidance, lambda said: console.print(f"{'waits':<{MARGIN}}{said}")):
            print_finished(console, Row(task.scenario, task.title, (), Phase.DONE, verdict=verdict), len(task.scenario))
        for machine, share in fleet.leave_out_starving(fleet.outcomes[before:]).items():
            end = "it gets no further plan" if machine in fleet.left_out else "it stays, as none would be left"
            console.print(
                f"{'starves':<{MARGIN}}{machine}: nodes waited for a processor for {share:.0%} of their time, so "
                f"deadlines judge little there: {end}. Give its worker fewer cores",
                highlight=False,
            )
        new = len(fleet.known.counts.keys() - guidance.counts.keys())
        signatures = len(fleet.known.failures) - len(guidance.failures)
        console.print(
            f"{f'after {made.number}':<{MARGIN}}{counted(len(fleet.outcomes), 'plan')} judged; new in this round: "
            f"{counted(new, 'combination')}, {counted(signatures, 'kind')} of failures",
            highlight=False,
        )


@contextmanager
def _spark(master: str, cores_per_plan: int, log: Path) -> Iterator[SparkContext]:
    try:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        from fencepost.results.mining.launch import jvm_errors_into
    except ImportError:
        raise UsageError("--on needs PySpark: pip install 'fencepost[mining]', or `make .venv/.all` here") from None
    try:
        with jvm_errors_into(log), spark_context(master, cores_per_plan) as spark:
            yield spark
    except (PySparkException, Py4JError) as error:
        raise InfrastructureError(f"Spark on {master} failed: {str(error).splitlines()[0]}") from error


def _summary(fleet: Fleet, missing: tuple[LeftOut, ...]) -> Summary:
    return Summary(
        order=fleet.order,
        seconds=time.monotonic() - fleet.began,
        outcomes=tuple(_outcome(fleet.folder, each) for each in sorted(fleet.outcomes, key=lambda each: each.number)),
        interrupted=0,
        met=(),
        left_out=missing,
    )


def _outcome(folder: Path, each: Delivered) -> PlanOutcome:
    run = folder / each.scenario
    kept = str(run) if run.is_dir() else None
    return PlanOutcome(each.number, each.seed, each.title, each.verdict, each.seconds, each.headline, kept)


def _regressions(fleet: Fleet, spark: SparkContext, address: str, console: Console) -> None:
    target, _, release = fleet.order.target.partition(":")
    plans = regressions(
        Store.open(address),
        target,
        release,
        fleet.defect,
        fleet.lacks,
        lambda said: console.print(f"{'left out':<{MARGIN}}{said}", highlight=False),
    )
    console.print(f"{'first':<{MARGIN}}{counted(len(plans), 'plan')} that found a violation before", highlight=False)
    for each in fleet.run_first(spark, plans):
        row = Row(each.scenario, each.title, (), Phase.DONE, verdict=each.verdict)
        print_finished(console, row, len(each.scenario))


def _causes(
    fleet: Fleet, spark: SparkContext, cores_per_plan: int, minutes: float, console: Console
) -> Sequence[Cause]:
    if not minutes:
        return ()
    return fleet.causes(
        spark, cores_per_plan, minutes, lambda said: console.print(f"{'causes':<{MARGIN}}{said}", highlight=False)
    )


def _of_cause(cause: Cause) -> Iterator[str]:
    """Yield the lines of one cause: its rules, its rate, when it was seen, and where its smallest plan is."""
    low, high = cause.interval
    yield f"\n{'cause':<{MARGIN}}{cause.signature}; {counted(len(cause.plans), 'plan')}: {', '.join(cause.plans)}"
    yield f"{'fails':<{MARGIN}}{cause.failed} of {cause.runs} replays (95 % interval {low:.0%} to {high:.0%})"
    if (seen := cause.seen) is not None:
        first, last = f"{seen.first} on {seen.first_release}", f"{seen.last} on {seen.last_release}"
        yield f"{'seen':<{MARGIN}}{counted(seen.runs, 'run')}, first {first}, last {last}"
    for each in cause.known_bugs:
        yield f"{'likely':<{MARGIN}}{each}"
    if cause.smallest is None:
        yield f"{'not shrunk':<{MARGIN}}it failed too seldom, or the time was up: raise --shrink-minutes"
    else:
        end = "nothing more can be dropped" if cause.complete else "the time was up; a smaller plan may exist"
        yield f"{'shrunk':<{MARGIN}}{', '.join(cause.faults) or 'no fault'}; {end}"
        yield f"{'replay':<{MARGIN}}{with_defect(replay_command(Path(cause.smallest)))} --times 20"
    if cause.bundle is not None:
        yield f"{'bundle':<{MARGIN}}{cause.bundle}"


def _show(fleet: Fleet, summary: Summary, causes: Sequence[Cause], page: str, console: Console) -> None:
    for rendered in shown(summary):
        console.print(rendered, highlight=False)
    for line in (line for each in causes for line in _of_cause(each)):
        console.print(line, highlight=False, soft_wrap=True, markup=False)
    console.print(f"\n{'rounds':<{MARGIN}}{fleet.round}", highlight=False)
    for machine, number in sorted(Counter(each.machine for each in fleet.outcomes).items()):
        out = f"; left out: {fleet.left_out[machine]}" if machine in fleet.left_out else ""
        console.print(f"{'executor':<{MARGIN}}{machine}: {counted(number, 'plan')}{out}", highlight=False, markup=False)
    console.print(f"{'page':<{MARGIN}}{page}", highlight=False, soft_wrap=True)
