"""`kill -9` of the harness at random moments of a run; then nothing of it may be left, and no other run may be hurt.

    python -m tests.harness.processes.kill_anywhere --times 100 [--seed 631] [--backend docker] [--light]

The moments are generated from the seed, as shares of what an undisturbed run writes, and milliseconds on top: so they
are spread over all of a run, however busy the machine is. After every other kill
the watcher is ended too, and `clean` does its work. A foreign process runs beside it all; before each kill its pid gets
into the run's records with another start time, as if it had been recycled.

With `--light` nodes are stand-ins that know nothing of Kafka, and the harness is a fork of a process that has imported
it: a trial takes a tenth of the processor time, and makes all the same things outside the run folder.
"""

from __future__ import annotations

import argparse
import collections
import json
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from fencepost.faults.identity.duplicate import DuplicateParameters
from fencepost.faults.links.cut import CutParameters
from fencepost.faults.processes.kill import KillParameters
from fencepost.faults.processes.pause import PauseParameters
from fencepost.harness.cleaning.cleanup import clean
from fencepost.harness.cleaning.mounts import mounts
from fencepost.harness.cleaning.watcher import WATCHED
from fencepost.harness.network.lease import leases
from fencepost.harness.plan import dump_plan
from fencepost.harness.plan.injects import inject
from fencepost.harness.plan.model import NodeSpec, Plan, ProducerSpec, TopicSpec, Topology, WorkloadSpec
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.heal import Heal
from fencepost.harness.plan.steps.workload import Workload
from fencepost.harness.processes import table
from fencepost.harness.processes.records import RECORDS, RUN, ProcessRecords
from fencepost.harness.processes.resources import RUN_LABEL, read_resources
from fencepost.harness.processes.table import Identity
from fencepost.harness.processes.waiting import within
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import read_journal

GONE_WITHIN = 300.0
VERDICTS = (0, 1, 3)
"""Exit codes of runs that came to their end."""
FOREIGN = "the foreign process"


@dataclass
class Kill:
    """One trial. `wrong` has a message for each thing that should not be."""

    number: int
    share: float
    """How much of what a whole run writes down was written when it was killed, at least."""
    by: str
    """The cleaner: `watcher`, `clean`, or `none` if there was nothing to clean."""
    during: str
    """The last event of the journal."""
    started: int
    """Processes, mounts, containers and networks in the records."""
    seconds: float
    """From the kill until nothing was left."""
    wrong: list[str] = field(default_factory=list)


def plan(disk: Literal["plain", "breakable"] = "plain") -> Plan:
    """Small, and with something of each kind: processes that end, stop, start and impersonate; links; a workload."""
    broker = NodeSpec(name="node-4", id=4, index=4, roles=("broker",), disk=disk)
    nodes = (
        NodeSpec(name="node-1", id=1, index=1, roles=("controller",)),
        broker,
        broker.model_copy(update={"name": "node-5", "id": 5, "index": 5}),
        broker.model_copy(update={"name": "node-4b", "index": 14, "start": "later", "duplicate_of": "node-4"}),
    )
    steps: tuple[Step, ...] = (
        Workload(action="start"),
        inject("cut", CutParameters(from_="node-5", to="node-1")),
        inject("dead", KillParameters(nodes="node-4")),
        inject("double", DuplicateParameters(node="node-4b")),
        Heal(fault="double"),
        Heal(fault="dead"),
        Heal(fault="cut"),
        inject("nap", PauseParameters(nodes="node-4")),
        Heal(fault="nap"),
    )
    return Plan(
        scenario="kill-anywhere",
        title="A run whose harness dies",
        document="KIP-631",
        seed=1,
        target="quorum",
        topology=Topology(nodes=nodes),
        topics=(TopicSpec(name="t", assignments=((4, 5),)),),
        workload=WorkloadSpec(producers=(ProducerSpec(name="p1", topic="t"),)),
        steps=steps,
    )


class Harness(Protocol):
    """A process that drives one run, as far as it is known here."""

    def poll(self) -> int | None: ...

    def kill(self) -> None: ...

    def wait(self) -> int: ...


Begin = Callable[[Path], Harness]
"""Begins a run whose folder is to be made in the given one."""


def by_command(file: Path, backend: str) -> Begin:
    """`fencepost run` of a plan file, in a process group of its own."""

    def begin(runs: Path) -> Harness:
        argv = [
            sys.executable,
            "-m",
            "fencepost.harness.cli",
            "run",
            str(file),
            "--runs",
            str(runs),
            "--backend",
            backend,
        ]
        return subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, process_group=0)

    return begin


def by_fork(disk: str) -> Begin:
    """The same cluster class and faults, with stand-ins for nodes."""
    from tests.harness.processes.light_run import light_run

    # A fork of this process would get the clients of other tests without their threads, and crash when it frees them.
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload([light_run.__module__])

    def begin(runs: Path) -> Harness:
        child = forks.Process(target=light_run, args=(runs, disk, os.environ["XDG_RUNTIME_DIR"]))
        child.start()
        return Forked(child)

    return begin


class Forked:
    """A child of multiprocessing as a `Harness`."""

    def __init__(self, child: Any) -> None:
        self._child = child

    def poll(self) -> int | None:
        code: int | None = self._child.exitcode
        return code

    def kill(self) -> None:
        self._child.kill()

    def wait(self) -> int:
        self._child.join()
        return int(self._child.exitcode)


def killed(times: int, seed: int, backend: str, scratch: Path, begin: Begin) -> Iterator[Kill]:
    """One trial after the other; the first run is not disturbed and gives no trial."""
    if (code := begin(scratch / "undisturbed").wait()) not in VERDICTS:
        raise RuntimeError(f"the undisturbed run failed with exit code {code}; it is in {scratch}")
    whole = _written(scratch / "undisturbed")
    with subprocess.Popen(["sleep", "infinity"]) as foreign:
        identity = table.identify_child(foreign.pid)
        try:
            for number in range(1, times + 1):
                moment = random.Random(f"{seed}/{number}")
                yield _trial(number, moment, whole, begin, scratch / f"runs-{number}", backend, identity)
        finally:
            foreign.kill()


def _trial(
    number: int, moment: random.Random, whole: int, begin: Begin, runs: Path, backend: str, foreign: Identity
) -> Kill:
    share, more = moment.random(), moment.uniform(0.0, 0.05)
    harness, run = begin(runs), None
    while harness.poll() is None and _written(runs) < share * whole:
        if run is None and (run := next(runs.glob("*"), None)) is not None:
            _add_decoy(run, foreign)
        time.sleep(0.002)
    time.sleep(more)
    over = harness.poll() is not None
    harness.kill()
    harness.wait()
    dead = time.monotonic()
    run = run or next(runs.glob("*"), None)
    if run is None:
        return Kill(number, share, "none", "before the run had a folder", 0, 0.0)
    by = "none" if over else ("watcher" if number % 2 else "clean")
    if by == "clean":
        for watcher in _with(WATCHED, run):
            table.end(watcher)
        clean(run) if (run / RECORDS).exists() else None
    gone = within(GONE_WITHIN, lambda: not left(run, backend))
    journal = read_journal(RunFolder(run).journal) if RunFolder(run).journal.exists() else None
    last = journal.events[-1] if journal and journal.events else None
    trial = Kill(
        number,
        round(share, 3),
        by,
        f"{last.type} {last.id} {last.phase}" if last else "before the journal",
        _lines(run / RECORDS, "intent") + _lines(run / "resources.jsonl", "intent") - 1,
        time.monotonic() - dead,
    )
    trial.wrong += [] if gone else left(run, backend)
    trial.wrong += [f"the journal is damaged: {damage}" for damage in (journal.damaged if journal else ())]
    trial.wrong += [] if table.is_alive(foreign) else [f"{FOREIGN} was ended"]
    if not trial.wrong:
        shutil.rmtree(runs)
    return trial


def left(run: Path, backend: str) -> list[str]:
    """Return what a run left outside its folder, found without its records."""
    found = [f"a process lives: pid {each.pid}" for each in [*_with(RUN, run), *_with(WATCHED, run)]]
    found += [f"something is mounted: {mount.point}" for mount in mounts() if mount.point.startswith(f"{run}/")]
    found += [f"addresses are leased: 127.{lease.k}.*" for lease in leases() if lease.run == run]
    found += [f"its records name a {each.kind}: {each.id}" for each in read_resources(run)]
    found += [f"a socket: {path}" for path in run.glob("*.sock")]
    return [*found, *_labelled(run)] if backend == "docker" else found


def _labelled(run: Path) -> Iterator[str]:
    for kind, more in (("container", ["-a"]), ("network", [])):
        argv = ["docker", kind, "ls", "-q", *more, "--filter", f"label={RUN_LABEL}={run}"]
        for id in subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split():
            yield f"a {kind} is there: {id}"


def _with(variable: str, run: Path) -> list[Identity]:
    return [each for each in table.all_processes() if table.environment(each.pid).get(variable) == str(run)]


def _written(runs: Path) -> int:
    """Bytes of the journal and the records."""
    return sum(file.stat().st_size for file in runs.glob("*/*.jsonl"))


def _add_decoy(run: Path, foreign: Identity) -> None:
    records = ProcessRecords(run / RECORDS)
    token = records.intend("decoy", ["sleep"])["FENCEPOST_TOKEN"]
    records.started(token, Identity(foreign.pid, foreign.start_time - 1))


def _lines(path: Path, phase: str) -> int:
    return path.read_text().count(f'"phase": "{phase}"') if path.exists() else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seed", type=int, default=631)
    parser.add_argument("--backend", default="process", choices=("process", "docker"))
    parser.add_argument("--disk", default="plain", choices=("plain", "breakable"))
    parser.add_argument("--light", action="store_true")
    asked = parser.parse_args()
    if asked.light and asked.backend != "process":
        parser.error("--light has stand-ins for processes, and none for containers")
    scratch = Path(tempfile.mkdtemp(prefix="fencepost-kill-")).resolve()
    trials = []
    os.environ["XDG_RUNTIME_DIR"] = str(scratch / "runtime")
    file = scratch / "plan.yaml"
    file.write_text(dump_plan(plan(asked.disk)), encoding="utf-8")
    begin = by_fork(asked.disk) if asked.light else by_command(file, asked.backend)
    for trial in killed(asked.times, asked.seed, asked.backend, scratch, begin):
        trials.append(trial)
        print(json.dumps(vars(trial)), flush=True)
    wrong = [trial for trial in trials if trial.wrong]
    during = collections.Counter(trial.during.split()[0] for trial in trials)
    by = collections.Counter(trial.by for trial in trials)
    slowest = max((trial.seconds for trial in trials), default=0.0)
    print(f"{len(trials)} kills (last event: {dict(during)}; cleaned by {dict(by)}), {len(wrong)} left something")
    print(f"{sum(trial.started for trial in trials)} things were made; gone at most {slowest:.1f} s after the kill")
    if wrong:
        print(f"what is wrong is kept in {scratch}")
        return 1
    shutil.rmtree(scratch)
    return 0


if __name__ == "__main__":
    sys.exit(main())
