"""The overhead of a fleet: the same plans by Spark and by one campaign, on two workers, and shrinking on two slots.

- `by Spark`: the time of the plans on one worker, as a share of that of `fencepost campaign` with as many side by side.
- `two workers`: the time on one worker, as a share of that on two with as many slots together.
- `shrinking`: the time on two slots, as a share of that on one. The results have to be the same.

`python -m tests.bench.fleet --plans 200` starts real clusters for hours; nothing else should run on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.harness.seeds import seed_of_a_plan_that_expects
from tests.spark_daemons import daemon

TARGET, DEFECT = "quorum", "unknown.offset_metadata_of_any_length"
SEED = seed_of_a_plan_that_expects("error:12", TARGET)
"""Its first plan shows the defect."""
LOCAL = ("--host", "127.0.0.1", "--webui-port", "0")
FENCEPOST = str(Path(sys.executable).with_name("fencepost"))


def campaign(scratch: Path, *options: str, defect: bool = False) -> tuple[float, Path]:
    """Run a campaign; return its seconds, and its folder. Raise CalledProcessError if it did not end as it should."""
    runs = Path(tempfile.mkdtemp(dir=scratch))
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYSPARK", "SPARK"))}
    argv = [FENCEPOST, "campaign", TARGET, "--seed", f"{SEED}", "--runs", f"{runs}", *options]
    argv += ["--mutant", DEFECT] if defect else []
    began = time.monotonic()
    done = subprocess.run(argv, env=environment, stdout=sys.stderr, check=False)
    took = time.monotonic() - began
    if done.returncode not in (0, 1, 3):
        raise subprocess.CalledProcessError(done.returncode, argv)
    return took, next(runs.glob("campaign-*"), runs)


@contextmanager
def cluster(scratch: Path, workers: int, cores: int) -> Iterator[str]:
    """Yield the master of a Spark cluster of processes."""
    place = Path(tempfile.mkdtemp(dir=scratch))
    ready = r"spark://127.0.0.1:\d+"
    with ExitStack() as stack:
        master, _ = stack.enter_context(daemon(place / "master", "master.Master", *LOCAL, "--port", "0", ready=ready))
        options = (*LOCAL, "--cores", f"{cores}", "--memory", "700m", "--work-dir", f"{place}", master)
        for number in range(workers):
            up = r"Successfully registered with master"
            stack.enter_context(daemon(place / f"worker-{number}", "worker.Worker", *options, ready=up))
        yield master


def on_workers(scratch: Path, workers: int, slots: int, plans: int) -> tuple[float, Path]:
    """Run the plans in one round on so many workers, with so many slots together; return seconds and folder."""
    store = tempfile.mkdtemp(dir=scratch)
    count = "--plans", f"{plans}", "--plans-per-round", f"{plans}", "--shrink-minutes", "0", "--minutes", "100000"
    with cluster(scratch, workers, slots // workers) as master:
        return campaign(scratch, "--on", master, "--publish", f"{store}/store", *count)


def overhead(scratch: Path, plans: int, slots: int) -> Iterator[str]:
    """Yield the lines of the first two ratios."""
    one, folder = on_workers(scratch, 1, slots, plans)
    two, _ = on_workers(scratch, 2, slots, plans)
    guidance = folder / "rounds" / "0001-guidance.json"  # it decides the plans
    count = "--plans", f"{plans}", "--workers", f"{slots}", "--minutes", "100000"
    alone, _ = campaign(scratch, *count, "--guidance", f"{guidance}")
    yield f"by Spark      {one / alone:.2f}   {one:.0f} s, and {alone:.0f} s by fencepost campaign; at most 1.1"
    yield f"two workers   {one / two:.2f}   {two:.0f} s, and {one:.0f} s on one; at least 0.9"


def shrinking(scratch: Path) -> Iterator[str]:
    """Yield the line of the last ratio."""
    store = scratch / "defects"
    one_plan = "--publish", f"{store}", "--plans", "1"
    _, found = campaign(scratch, "--on", "local[1]", *one_plan, "--shrink-minutes", "0", defect=True)
    took, smallest = {}, {}
    for slots in (1, 2):
        copied = scratch / f"{slots}" / found.name
        shutil.copytree(found, copied, symlinks=True)
        more = "--resume", f"{copied}", "--shrink-minutes", "600"
        took[slots], _ = campaign(scratch, "--on", f"local[{slots}]", *one_plan, *more, defect=True)
        [cause] = json.loads((copied / "summary.json").read_text())["causes"]
        smallest[slots] = Path(cause["smallest"]).read_text()
    same = "the same result" if smallest[1] == smallest[2] else "ANOTHER RESULT"
    seconds = f"{took[2]:.0f} s, and {took[1]:.0f} s on one slot"
    yield f"shrinking     {took[2] / took[1]:.2f}   {seconds}, {same}; at most 0.6"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.fleet", description=__doc__.splitlines()[0])
    parser.add_argument("--plans", type=int, default=200)
    parser.add_argument("--slots", type=int, default=4, help="Plans side by side, an even number.")
    parser.add_argument("--only", choices=("overhead", "shrinking"))
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="fencepost-bench-") as folder:
        if options.only != "shrinking":
            for line in overhead(Path(folder), options.plans, options.slots):
                print(line, flush=True)
        if options.only != "overhead":
            for line in shrinking(Path(folder)):
                print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
