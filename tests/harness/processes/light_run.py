"""A run with stand-ins for nodes: all that a run makes outside its folder, and faults of each kind, in a second."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from fencepost.faults.registry import build
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.engine.active_faults import ActiveFaults
from fencepost.harness.plan import dump_plan
from fencepost.harness.plan.model import Plan, Topology
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalWriter
from tests.harness.sample_target import FIRST, SampleTarget, sample_plan

FAULTS: tuple[tuple[str, Mapping[str, object]], ...] = (
    ("cut", {"from_": ["node-2"], "to": ["node-1"]}),
    ("kill", {"nodes": ["node-3"]}),
    ("duplicate", {"node": "node-3b"}),
    ("pause", {"nodes": ["node-2"]}),
)


def light_run(runs: Path, disk: str, runtime_directory: str) -> None:
    """Run it in `runs`, with leases of addresses in `runtime_directory`."""
    os.environ["XDG_RUNTIME_DIR"] = runtime_directory
    plan = _plan(disk)
    folder = RunFolder.create(runs, "11947000", date.today())
    folder.plan.write_text(dump_plan(plan), encoding="utf-8")
    with JournalWriter(folder.journal) as journal:
        journal.write("run", folder.name, "begin", {"scenario": plan.scenario})
        with Cluster(plan, folder, journal, SampleTarget()) as cluster:
            cluster.start(FIRST)
            active_faults = ActiveFaults(journal)
            for number, (name, params) in zip(itertools.count(), FAULTS, strict=False):
                given = {key.rstrip("_"): value for key, value in params.items()}
                active_faults.inject(f"{name}-{number}", build(name, cluster, given), given)
            failures = active_faults.heal_all()
        journal.write("run", folder.name, "end", {"failures": failures})


def _plan(disk: str) -> Plan:
    plan = sample_plan()
    nodes = tuple(
        node.model_copy(update={"disk": disk}) if "broker" in node.roles else node for node in plan.topology.nodes
    )
    return plan.model_copy(update={"scenario": "interactive", "topology": Topology(nodes=nodes)})
