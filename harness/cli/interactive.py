"""`fencepost up`: a cluster that is held and that other terminals break, with the faults and names that plans use."""

from __future__ import annotations

import itertools
import math
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

from rich.console import Console

from fencepost.faults.capabilities import Capability
from fencepost.faults.registry import UnknownFault
from fencepost.harness.backends import PROCESS, check_backend
from fencepost.harness.cli import catalogue
from fencepost.harness.cli.cluster_state import state_of
from fencepost.harness.cli.commands.interactive import UpOptions
from fencepost.harness.cli.control import ControlServer, Operation
from fencepost.harness.cli.ended_nodes import ended_nodes, how_it_ended, start_nodes
from fencepost.harness.cli.options import chosen_target
from fencepost.harness.cluster.availability import unavailable_reason
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.disk_space import check_disk_space, disk_space_errors
from fencepost.harness.engine.active_faults import ActiveFaults
from fencepost.harness.engine.context import Context
from fencepost.harness.engine.errors import FaultError, StepError
from fencepost.harness.engine.injecting import inject
from fencepost.harness.engine.run import started
from fencepost.harness.errors import UsageError
from fencepost.harness.plan import dump_plan, plan_hash, topologies
from fencepost.harness.plan.model import Plan, Timing, TopicSpec, Topology
from fencepost.harness.plan.rehearsal import problems_to_run
from fencepost.harness.targets.registry import keep_copy, load, reference_of
from fencepost.harness.targets.securing import check_security, with_security
from fencepost.harness.terminal import terminal
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalWriter

SCENARIO = "interactive"
"""The scenario name in the plan of such a cluster, which gets no verdict."""
TOPIC = "play"
"""The topic to produce to: as many partitions as brokers, each led by a different one."""

LEASE_MS = 3000
"""Longer than in scenarios: the machine does other work meanwhile, and no scenario waits for a lease to end."""


def interactive_plan(target: str, servers: int = 1, backend: str = PROCESS, *, plain: bool = False) -> Plan:
    """Return the plan of a cluster of three brokers and three controllers, or `servers` ZooKeeper servers.

    Of a target that shows no control plane it has the target's brokers alone. A duplicate of the first broker is part
    of it, if there can be one, and not started. Disks and clocks can be broken if this machine supports it,
    unless `plain`.
    """
    reference, file = reference_of(target), load(target).file
    lease = file.timeout_factor * LEASE_MS

    def possible(capability: Capability) -> bool:
        return capability in file.capabilities and unavailable_reason(backend, capability) is None

    others = (*topologies.services(file.services), *topologies.deciders(file.dialect, servers))
    brokers = topologies.brokers(
        file.brokers.ids,
        log_dirs=2 if Capability.LOG_DIRS in file.capabilities else 1,
        disk="breakable" if not plain and possible(Capability.DISKS) else "plain",
        clock="own" if not plain and possible(Capability.CLOCK) else "machine",
    )
    brokers = topologies.with_front_ends(brokers, file.brokers.front_ends)
    duplicates = [topologies.duplicate_of(brokers[0])] if Capability.DUPLICATE in file.capabilities else []
    ids = file.brokers.ids
    replicas = len(ids) if file.promises.replication == "isr" else 1
    assignments = tuple((*ids[place:], *ids[:place])[:replicas] for place in range(len(ids)))
    return Plan(
        scenario=SCENARIO,
        title="An interactive cluster",
        document="none",
        seed=0,
        target=reference,
        timing=Timing(lease_ms=lease, session_ms=lease, fence_ms=lease + 1000),
        topology=Topology(nodes=(*others, *brokers, *duplicates)),
        topics=(TopicSpec(name=TOPIC, assignments=assignments),),
    )


def described(plan: Plan) -> str:
    """Return the nodes that start with the cluster: `3 controllers, 3 brokers`."""
    starting = [node for node in plan.topology.nodes if node.start == "now"]
    kinds = {
        "service": "service",
        "zookeeper": "ZooKeeper server",
        "controller": "controller",
        "broker": "broker",
    }
    counts = {kind: sum(role in node.roles for node in starting) for role, kind in kinds.items()}
    return ", ".join(f"{count} {kind}{'s' * (count > 1)}" for kind, count in counts.items() if count)


@contextmanager
def interactive_cluster(plan: Plan, runs: Path, backend: str = PROCESS) -> Iterator[Context]:
    """Start the cluster, with a run folder and a journal as in a run; it ends with the block."""
    check_backend(backend)
    target = load(plan.target)
    plan = with_security(plan, target.file.security)
    check_security(target, plan.secured)
    check_disk_space(runs)
    folder = RunFolder.create(runs, plan_hash(plan), date.today())
    folder.plan.write_text(dump_plan(plan))
    keep_copy(target.file.name, folder)
    with disk_space_errors(runs), JournalWriter(folder.journal) as journal:
        journal.write("run", folder.name, "begin", {"scenario": plan.scenario, "target": plan.target})
        with Cluster(plan, folder, journal, target, backend) as cluster, started(cluster, math.inf) as context:
            yield context
        journal.write("run", folder.name, "end", {})


class InteractiveFaults:
    """Injects and heals faults of one cluster, journalled and proven as in a run.

    Threads may call it at the same time: it injects or heals one fault at a time, and answers `status` meanwhile.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._numbers = itertools.count(1)
        self._one_at_a_time = threading.Lock()

    def operations(self) -> dict[str, Operation]:
        """Return the operations of the control socket, for requests that `fencepost.harness.cli.control.ask` sends."""
        return {
            "inject": lambda request: self.inject(request["fault"], request["params"], request["name"]),
            "heal": lambda request: self.heal(request["name"]),
            "start": lambda request: self.start(request["nodes"]),
            "status": lambda request: self.status(),
        }

    def inject(self, kind: str, params: Mapping[str, Any], name: str | None = None) -> dict[str, str]:
        """Inject a fault and prove that it took effect; return its name, and how that was proven."""
        fault = catalogue.find(kind)
        with self._one_at_a_time:
            name = name or f"{kind}-{next(self._numbers)}"
            if name in self._context.active_faults.by_name:
                raise UsageError(f"a fault is called {name} already: heal it, or choose another name with --as")
            step: Any = catalogue.step_of(fault, params, name)
            self._check(step)
            try:
                done = inject(step, name, self._context)
            except (FaultError, StepError, UnknownFault) as error:
                raise UsageError(f"{error}{self._start_hint(str(error))}") from error
            return {"name": name, "how": done["how"]}

    def heal(self, name: str | None = None) -> dict[str, Any]:
        """Heal one fault, or all, and prove it.

        Return the names of the healed faults, and for each node that ended and that no fault brings back a message.
        """
        active_faults = self._context.active_faults
        with self._one_at_a_time:
            active = list(active_faults.by_name)
            if name is None:
                healed, failures = active, active_faults.heal_all()
            elif name in active:
                healed, failures = [name], _failures(active_faults, name)
            else:
                raise UsageError(f"no fault is called {name}: the active faults are {', '.join(active) or 'none'}")
            ended = {node: how_it_ended(self._context, node) for node in ended_nodes(self._context)}
        if failures:
            raise UsageError("; ".join([*failures, *ended.values()]))
        return {"healed": healed, "ended": ended}

    def start(self, nodes: Sequence[str]) -> list[str]:
        """Start nodes that ended, or all of them, on the data that they left; return their names."""
        with self._one_at_a_time:
            return start_nodes(self._context, nodes)

    def status(self) -> dict[str, Any]:
        """Return the state of the cluster as plain data."""
        return state_of(self._context)

    def _start_hint(self, message: str) -> str:
        """Return how to start the ended nodes that an error names; empty if it names none."""
        named = [node for node in ended_nodes(self._context) if re.search(rf"\b{node}\b", message)]
        return f": `fencepost start {' '.join(named)}` starts it again" if named else ""

    def _check(self, step: Any) -> None:
        """Check the step as in a plan, so that an unknown node is refused before anything is broken."""
        plan = self._context.plan.model_copy(update={"steps": (step,)})
        if wrong := problems_to_run(plan):
            raise UsageError("; ".join(problem.message for problem in wrong))


def _failures(active_faults: ActiveFaults, name: str) -> list[str]:
    """Heal one fault; return why it did not heal."""
    try:
        active_faults.heal(name)
    except FaultError as error:
        return [str(error)]
    return []


def up(options: UpOptions) -> None:
    """Start the cluster, print how to reach and break it, and answer other terminals until Ctrl-C."""
    console = terminal()
    plan = interactive_plan(
        chosen_target(options.target, options.option), options.zookeepers, options.backend, plain=options.plain
    )
    console.print(f"starting {plan.target}: {described(plan)} …")
    with interactive_cluster(plan, options.runs, options.backend) as context:
        server = ControlServer(context.cluster.folder.path, InteractiveFaults(context).operations())
        try:
            _greet(console, context)
            threading.Event().wait()
        except KeyboardInterrupt:
            console.print("ending the cluster …")
        finally:
            server.close()


def _greet(console: Console, context: Context) -> None:
    references = context.references
    first, *others = references.nodes_now("brokers")
    decider = "active-controller" if references.dialect.has_controllers else "zookeeper"
    peer = decider if references.dialect.shows_decisions else next(iter(others), "")
    duplicates = [node.name for node in context.plan.topology.nodes if node.duplicate_of is not None]
    console.print(f"[green]up[/green]       {context.plan.target}, run folder {context.cluster.folder.path}")
    console.print(f"clients  {context.cluster.bootstrap()}   topic {TOPIC}")
    console.print("break it from another terminal:")
    for example in (
        "fencepost status --watch",
        *([f"fencepost inject cut --from {first} --to {peer}"] if peer else []),
        f"fencepost inject kill --node leader:{TOPIC}-0",
        *(f"fencepost inject duplicate --node {name}" for name in duplicates),
        "fencepost faults",
        "fencepost heal",
    ):
        console.print(f"         {example}")
    console.print("Ctrl-C ends the cluster")
