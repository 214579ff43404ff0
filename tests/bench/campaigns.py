"""The plans an hour of a campaign, where the time of a plan goes, and the memory of the process that runs them.

`python -m tests.bench.campaigns quorum --minutes 10` runs one campaign with a fresh cluster for each plan, and one with
several plans on a cluster, side by side in turns of a few minutes. With `--memory 40` one process runs 40 plans on
clusters that live on, and its resident memory is noted after each.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean, median

from rich.console import Console
from rich.table import Table

from fencepost.harness.campaign.campaign import Campaign, Order
from fencepost.harness.campaign.planner import generate
from fencepost.harness.plan import dump_plan
from fencepost.harness.plan.model import Plan
from fencepost.results.records.events import CONVERGE
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import read_journal

POLL = 0.05
TURNS = 2
PARTS = ("start", "steps", "healing", "final read", "end", "judge", "report")
HOUR = 3600.0


def run_campaign(order: Order, runs: Path) -> tuple[list[RunFolder], float]:
    """Run a campaign to its end; return the folders of its runs, and its seconds."""
    campaign = Campaign.create(order, runs)
    with campaign:
        while not campaign.over:
            for _ in campaign.step():
                pass
            time.sleep(POLL)
    folders = [folder for attempt in campaign.attempts if (folder := attempt.folder) is not None]
    return [each for each in folders if each.verdict.is_file()], time.monotonic() - campaign.began


def parts_of(folder: RunFolder) -> Mapping[str, float]:
    """Return the seconds of each part of a run. `end`: the nodes are ended, or their files copied."""
    journal = read_journal(folder.journal)
    steps = [event for event in journal.of("step") if event.id != CONVERGE]
    [begun, healed] = [event.t for event in journal.of("step", "begin", "end") if event.id == CONVERGE]
    last = journal.events[-1]
    read = max(event.t for event in journal.of("op"))
    over = last.wall
    judged, reported = folder.verdict.stat().st_mtime, folder.report.stat().st_mtime
    values = (steps[0].t, begun - steps[0].t, healed - begun, read - healed, last.t - read)
    return dict(zip(PARTS, (*values, judged - over, reported - judged), strict=True))


def memory_of(target: str, plans: int, folder: Path) -> Iterator[float]:
    """Yield the resident memory of the process that runs so many plans, in MB, as each ends."""
    runs = folder / "memory"
    runs.mkdir()
    files = []
    chain: list[Plan] = []
    for number in range(1, plans + 1):
        chain.append(generate(target, "process", number, earlier=chain))
        files.append(runs / f"plan-{number:03}.yaml")
        files[-1].write_text(dump_plan(chain[-1]), encoding="utf-8")
    worker = [sys.executable, "-m", "fencepost.harness.campaign.worker", str(runs), "process", *map(str, files)]
    with subprocess.Popen(worker, stdin=subprocess.DEVNULL) as process:
        ended = 0
        while process.poll() is None:
            time.sleep(POLL)
            resident = _resident(process.pid)
            reports = len(list(runs.glob("*/report.html")))
            if reports > ended and resident:
                ended = reports
                yield resident


def _resident(pid: int) -> float:
    """Return the resident memory of a process in MB, 0 once it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:")), 0.0)


def table(modes: Mapping[str, Sequence[tuple[list[RunFolder], float]]]) -> Table:
    """Return a column for each way of running, with the means of its parts."""
    shown = Table(title="the time of a plan, s", title_justify="left")
    for heading in ("", *modes):
        shown.add_column(heading, justify="right" if heading else "left")
    parts = {mode: [parts_of(each) for folders, _ in turns for each in folders] for mode, turns in modes.items()}
    for part in PARTS:
        shown.add_row(part, *(f"{mean(each[part] for each in of_mode):.2f}" for of_mode in parts.values()))
    shown.add_row(
        "median of a plan", *(f"{median(sum(e.values()) for e in of_mode):.1f}" for of_mode in parts.values())
    )
    rates = [sum(len(f) for f, _ in turns) * HOUR / sum(s for _, s in turns) for turns in modes.values()]
    shown.add_row("plans", *(str(len(each)) for each in parts.values()))
    shown.add_row("plans an hour", *(f"{rate:.0f} ({rate / rates[0]:.2f})" for rate in rates))
    return shown


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m tests.bench.campaigns", description=__doc__)
    arguments.add_argument("target", nargs="?", default="quorum")
    arguments.add_argument("--minutes", type=float, default=10.0, help="of each way of running")
    arguments.add_argument("--plans-per-cluster", type=int, default=10)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--memory", type=int, metavar="PLANS", help="measure the memory over so many plans instead")
    options = arguments.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory(prefix="fencepost-") as directory:
        if options.memory:
            for number, resident in enumerate(memory_of(options.target, options.memory, Path(directory)), start=1):
                console.print(f"{number} {resident:.1f} MB")
            return
        modes: dict[str, list[tuple[list[RunFolder], float]]] = {"fresh": [], "living": []}
        for turn in range(TURNS):
            for mode, turns in modes.items():
                each = 1 if mode == "fresh" else options.plans_per_cluster
                minutes, seed = options.minutes / TURNS, options.seed + turn
                order = Order(options.target, "process", seed, minutes, 1, plans_per_cluster=each)
                turns.append(run_campaign(order, Path(directory)))
        console.print(table(modes))


if __name__ == "__main__":
    main()
