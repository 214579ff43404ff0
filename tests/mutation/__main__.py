"""`make mutation ARGS='...'`: try planted defects, append each trial to the record, and write `docs/mutation.md`."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from fencepost.harness.conformance.shards import Shard
from tests.mutants.catalogue import DEFECTS, UNKNOWN
from tests.mutants.defect import ALL
from tests.mutation import page
from tests.mutation.campaigns import CampaignsAlone, Planted, draw
from tests.mutation.clean_plans import read_campaign, run_clean_plans
from tests.mutation.record import (
    CAMPAIGNS,
    CLEAN_PLANS,
    TRIALS,
    Outcome,
    Stage,
    Trial,
    append,
    read_campaigns,
    read_clean_plans,
    read_trials,
)
from tests.mutation.standing import Standing, standings
from tests.mutation.trials import ROOT, Bench


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    options.runs.mkdir(parents=True, exist_ok=True)
    try:
        if options.what == "clean":
            _count_clean_plans(options)
        elif options.what == "campaign":
            _try_campaigns(options)
        elif options.what == "run":
            _try_defects(options)
    except KeyboardInterrupt:
        print("interrupted: what has ended is in the record, and the next run goes on from there", flush=True)
        return 130
    finally:
        clean, campaigns = read_clean_plans(options.clean_record), read_campaigns(options.campaign_record)
        page.write(standings(read_trials(options.record)), clean, campaigns, options.page)
        print(f"page           {options.page}", flush=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make mutation ARGS=", description=__doc__)
    parser.add_argument(
        "what",
        nargs="?",
        choices=("run", "campaign", "clean", "page"),
        default="run",
        help="run: try the defects (default). campaign: try them by campaigns alone. clean: random plans on healthy "
        "clusters. page: write the page alone.",
    )
    parser.add_argument("--only", nargs="+", metavar="DEFECT", help="Try these defects only.")
    parser.add_argument("--design", nargs="+", choices=ALL, default=ALL, help="Try, or count plans, on these designs.")
    parser.add_argument(
        "--stages", nargs="+", type=Stage, choices=list(Stage), default=list(Stage), help="Run these stages only."
    )
    parser.add_argument(
        "--first", type=int, default=10_000, metavar="N", help="Try each defect at most N times in each stage."
    )
    parser.add_argument("--again", action="store_true", help="Try again what is in the record.")
    parser.add_argument("--shard", type=Shard.parse, metavar="I/N", help="Try part I of N of the defects, such as 2/4.")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="Begin no trial after this many minutes.")
    parser.add_argument(
        "--workers", type=int, metavar="N", help="Clusters side by side: 2 in the stage of the rest, 1 in campaigns."
    )
    parser.add_argument(
        "--campaign-minutes", type=float, help="The minutes of each campaign: 10, and 15 for campaigns alone."
    )
    parser.add_argument(
        "--sample",
        type=int,
        metavar="N",
        help="campaign: try N defects on their designs, taken by chance.",
    )
    parser.add_argument("--plans", type=int, default=20, help="clean: plans on each design.")
    parser.add_argument(
        "--count",
        nargs="+",
        type=Path,
        default=(),
        metavar="SUMMARY",
        help="clean: run nothing, and count the plans of campaigns that were run, from each summary.json.",
    )
    parser.add_argument("--seed", type=int, default=1, help="The seed of scenarios, campaigns and the draw.")
    parser.add_argument("--runs", type=Path, default=ROOT / "runs" / "mutation", help="The folder of the run folders.")
    parser.add_argument("--record", type=Path, default=TRIALS, help="The record of trials.")
    parser.add_argument(
        "--plans-per-cluster", type=int, default=1, metavar="N", help="campaign: plans on a cluster that lives on."
    )
    parser.add_argument(
        "--unknown", action="store_true", help="campaign: try the defects that no scenario was written for."
    )
    parser.add_argument("--campaign-record", type=Path, default=CAMPAIGNS, help="The record of campaigns alone.")
    parser.add_argument("--clean-record", type=Path, default=CLEAN_PLANS, help="The record of clean plans.")
    parser.add_argument("--page", type=Path, default=page.PAGE, help="The page to write.")
    return parser


def _try_defects(options: argparse.Namespace) -> None:
    rows = _chosen(options)
    bench = Bench(options.runs, _commit(), options.campaign_minutes or 10.0, options.seed, options.workers or 2)
    until = time.monotonic() + options.minutes * 60
    for stage in options.stages:
        if options.again:
            for row in rows:
                row.trials = [each for each in row.trials if each.stage is not stage]
        while time.monotonic() < until and (chosen := next_row(rows, stage, options.first)) is not None:
            how = next_ones(chosen, stage, options.first)
            _try_once(bench, rows, chosen, stage, how, options.record)


def next_row(rows: Sequence[Standing], stage: Stage, first: int) -> Standing | None:
    """Return the row to try next: that with the fewest trials of the stage, the quickest first; None if none is left.

    So the quick answers of all defects come before the slow ones of any.
    """
    left = [row for row in rows if len(row.tried(stage)) < first and row.left(stage)]
    return min(left, key=lambda row: (len(row.tried(stage)), row.seconds(stage)), default=None)


def next_ones(row: Standing, stage: Stage, first: int) -> list[str]:
    """Return what the next trial of a row tries: all scenarios of the rest as one run of the suite, else one thing."""
    return row.left(stage)[: first - len(row.tried(stage)) if stage is Stage.REST else 1]


def _try_once(
    bench: Bench, rows: Sequence[Standing], row: Standing, stage: Stage, how: Sequence[str], record: Path
) -> None:
    what = how[0] if len(how) == 1 else f"{len(how)} scenarios"
    print(f"{stage.value:<9}{row.defect.name} on {row.design}: {what} …", flush=True)
    for trial in _trials(bench, row, stage, how):
        append(record, trial)
        for each in rows:
            if each.concerned_by(trial):
                each.trials.append(trial)
        found = ", ".join(trial.rules) if trial.outcome is Outcome.CAUGHT else trial.message
        print(f"{'':<9}{trial.outcome.value} in {trial.seconds:.0f} s  {trial.how}  {found[:160]}", flush=True)


def _trials(bench: Bench, row: Standing, stage: Stage, how: Sequence[str]) -> Iterator[Trial]:
    match stage:
        case Stage.UNIT:
            yield bench.unit(row.defect, row.design)
        case Stage.CAMPAIGN:
            yield bench.campaign(row.defect, row.design)
        case Stage.REST:
            yield from bench.suite(row.defect, row.design, stage, how)
        case _:
            yield bench.scenario(row.defect, row.design, stage, how[0])


def _chosen(options: argparse.Namespace) -> list[Standing]:
    planted = _shard(options, _candidates(options))
    return [row for row in standings(read_trials(options.record)) if (row.defect, row.design) in planted]


def _candidates(options: argparse.Namespace) -> list[Planted]:
    catalogue = UNKNOWN if options.unknown else DEFECTS
    if missing := set(options.only or ()) - catalogue.keys():
        raise SystemExit(f"there is no defect {', '.join(sorted(missing))}: each is a module of tests/mutants")
    defects = [catalogue[name] for name in options.only or catalogue]
    return [(defect, design) for defect in defects for design in defect.designs if design in options.design]


def _shard(options: argparse.Namespace, candidates: Sequence[Planted]) -> Sequence[Planted]:
    if options.shard is None:
        return candidates
    mine = options.shard.select({f"{defect.name}/{design}": 60.0 for defect, design in candidates})
    return [(defect, design) for defect, design in candidates if f"{defect.name}/{design}" in mine]


def _try_campaigns(options: argparse.Namespace) -> None:
    candidates = _candidates(options)
    sampled = draw(candidates, options.seed, options.sample)
    minutes, commit = options.campaign_minutes or 15.0, _commit()
    alone = CampaignsAlone(
        options.runs,
        commit,
        options.seed,
        len(sampled),
        len(candidates),
        minutes,
        options.plans_per_cluster,
        options.workers or 1,
    )
    tried = {
        (trial.defect, trial.design)
        for trial in read_campaigns(options.campaign_record)
        if (trial.commit, trial.seed, trial.minutes, trial.plans_per_cluster, trial.workers)
        == (commit, options.seed, minutes, options.plans_per_cluster, alone.workers)
        and trial.outcome is not Outcome.UNJUDGED
    }
    until = time.monotonic() + options.minutes * 60
    for defect, design in _shard(options, sampled):
        if time.monotonic() > until:
            return
        if (defect.name, design) in tried and not options.again:
            continue
        print(f"campaign {defect.name} on {design} …", flush=True)
        trial = alone.attempt(defect, design)
        append(options.campaign_record, trial)
        print(f"{'':<9}{trial.outcome.value} in {trial.seconds:.0f} s  {trial.plans} plans  {trial.message[:160]}")


def _count_clean_plans(options: argparse.Namespace) -> None:
    for summary in options.count:
        append(options.clean_record, read_campaign(summary))
    for design in options.design if not options.count else ():
        seed = options.seed + sum(each.target == design for each in read_clean_plans(options.clean_record))
        print(f"clean    {options.plans} plans of seed {seed} on {design} …", flush=True)
        minutes = min(options.minutes, 24 * 60.0)
        counted = run_clean_plans(design, options.plans, minutes, seed, options.runs / "clean", _commit())
        append(options.clean_record, counted)
        print(f"{'':<9}{counted.passed} of {counted.plans} pass, {len(counted.alarms)} violations", flush=True)


def _commit() -> str:
    return subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
