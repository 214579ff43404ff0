"""A cluster to break by hand: what `up`, `inject`, `heal` and `status` do, with the faults and words that plans use."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

from faults.capabilities import Capability
from faults.registry import UnknownFault
from harness.backends import PROCESS, check_backend, lacking
from harness.cli import catalogue
from harness.cli.control import Operation
from harness.cli.state import state_of
from harness.cluster import Cluster
from harness.engine.context import Context, StepError
from harness.engine.injecting import inject
from harness.engine.keeper import FaultError
from harness.errors import UsageError
from harness.plan import dump_plan, plan_hash
from harness.plan.check import problems
from harness.plan.model import NodeSpec, Plan, Timing, TopicSpec, Topology
from harness.room import check_room
from harness.run import started
from harness.targets.target import load
from results.records.folder import RunFolder
from results.records.journal import JournalWriter

STORY = "by-hand"
"""Of the plan that stands for such a cluster: nobody judges it."""
TOPIC = "play"
"""What there is to produce to: three partitions, each led by another broker."""

LEASE_MS = 3000
"""Nobody waits for a story here: long enough for a machine that does something else besides."""


def plan_by_hand(target: str, servers: int = 1, backend: str = PROCESS, *, plain: bool = False) -> Plan:
    """Three controllers, or where a target needs it ZooKeeper with so many servers; three brokers, and a duplicate of
    node-4 that waits to be started. Disks and clocks can be broken where this machine can do it, unless `plain`."""
    file = load(target).file
    lease = file.stretch * LEASE_MS

    def possible(capability: Capability) -> bool:
        return capability in file.capabilities and lacking(backend, capability) is None

    if file.dialect.around_zookeeper:
        others = [NodeSpec(name=f"zk-{n}", id=n, index=n, roles=("zookeeper",)) for n in range(1, servers + 1)]
    else:
        others = [NodeSpec(name=f"node-{n}", id=n, index=n, roles=("controller",)) for n in (1, 2, 3)]
    broker = NodeSpec(
        name="node-4",
        id=4,
        index=4,
        roles=("broker",),
        log_dirs=2 if Capability.LOG_DIRS in file.capabilities else 1,
        disk="breakable" if not plain and possible(Capability.DISKS) else "plain",
        clock="own" if not plain and possible(Capability.CLOCK) else "machine",
    )
    brokers = [broker.model_copy(update={"name": f"node-{n}", "id": n, "index": n}) for n in (4, 5, 6)]
    duplicate = broker.model_copy(update={"name": "node-4b", "index": 14, "start": "later", "duplicate_of": "node-4"})
    return Plan(
        story=STORY,
        title="A cluster broken by hand",
        document="none",
        seed=0,
        target=target,
        timing=Timing(lease_ms=lease, session_ms=lease, fence_ms=lease + 1000),
        topology=Topology(nodes=(*others, *brokers, duplicate)),
        topics=(TopicSpec(name=TOPIC, assignments=((4, 5, 6), (5, 6, 4), (6, 4, 5))),),
    )


def described(plan: Plan) -> str:
    """`3 controllers, 3 brokers`: what is started."""
    started = [node for node in plan.topology.nodes if node.start == "now"]
    kinds = {"zookeeper": "ZooKeeper server", "controller": "controller", "broker": "broker"}
    counts = {kind: sum(role in node.roles for node in started) for role, kind in kinds.items()}
    return ", ".join(f"{count} {kind}{'s' * (count > 1)}" for kind, count in counts.items() if count)


@contextmanager
def cluster_by_hand(plan: Plan, runs: Path, backend: str = PROCESS) -> Iterator[Context]:
    """A running cluster, with a run folder and a journal like any other; it ends with the block."""
    check_backend(backend)
    target = load(plan.target)
    check_room(runs)
    folder = RunFolder.create(runs, plan_hash(plan), date.today())
    folder.plan.write_text(dump_plan(plan))
    with JournalWriter(folder.journal) as journal:
        journal.write("run", folder.name, "begin", {"story": plan.story, "target": plan.target})
        with Cluster(plan, folder, journal, target, backend) as cluster, started(cluster, math.inf) as context:
            yield context
        journal.write("run", folder.name, "end", {})


class ByHand:
    """Injects and heals faults of one cluster, journalled and proven as in a run. One at a time; the state may be asked
    for meanwhile."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._numbers = itertools.count(1)
        self._one_at_a_time = threading.Lock()

    def operations(self) -> dict[str, Operation]:
        """What the control socket offers: requests as `harness.cli.control.ask` sends them."""
        return {
            "inject": lambda request: self.inject(request["fault"], request["params"], request["name"]),
            "heal": lambda request: self.heal(request["name"]),
            "status": lambda request: self.status(),
        }

    def inject(self, kind: str, params: Mapping[str, Any], name: str | None = None) -> dict[str, str]:
        """Inject a fault and prove that it took effect: its name, and how that was proven."""
        fault = catalogue.find(kind)
        with self._one_at_a_time:
            name = name or f"{kind}-{next(self._numbers)}"
            if name in self._context.keeper.active:
                raise UsageError(f"a fault is called {name} already: heal it, or choose another name with --as")
            step: Any = catalogue.step_of(fault, params, name)
            self._check(step)
            with _as_usage_error():
                done = inject(step, name, self._context)
            return {"name": name, "how": done["how"]}

    def heal(self, name: str | None = None) -> list[str]:
        """Heal one fault, or all, and prove it: the names of those that were healed."""
        keeper = self._context.keeper
        with self._one_at_a_time:
            active = list(keeper.active)
            if name is None:
                if failures := keeper.heal_all():
                    raise UsageError("; ".join(failures))
                return active
            if name not in active:
                raise UsageError(f"no fault is called {name}: there are {', '.join(active) or 'none'}")
            with _as_usage_error():
                keeper.heal(name)
            return [name]

    def status(self) -> dict[str, Any]:
        return state_of(self._context)

    def _check(self, step: Any) -> None:
        """As if it stood in a plan: names that lead nowhere are known before anything is broken."""
        plan = self._context.plan.model_copy(update={"steps": (step,)})
        if wrong := problems(plan):
            raise UsageError("; ".join(problem.sentence for problem in wrong))


@contextmanager
def _as_usage_error() -> Iterator[None]:
    try:
        yield
    except (FaultError, StepError, UnknownFault) as error:
        raise UsageError(str(error)) from error
