"""A node starts with a snapshot of the metadata that is lost, cut or overwritten."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING

from fencepost.faults.capabilities import Capability
from fencepost.faults.disks.damaged_file import DamagedFileParameters, DamageName
from fencepost.faults.parameters import EndingMethod
from fencepost.harness.campaign.situations.situation import Situation, Staged
from fencepost.harness.plan.dialect import Dialect

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

SNAPSHOTS = "__cluster_metadata-0/*-*[1-9]*.checkpoint"
"""Snapshots that a leader's epoch wrote (KIP-630: `<end offset>-<epoch>.checkpoint`). The one that 4.4 formats a
controller with, of offset 0 and epoch 0, is not one: a node that has its log does not miss it."""
DAMAGES: tuple[DamageName, ...] = ("lost", "cut", "garbage")
METHODS: tuple[EndingMethod, ...] = ("kill", "shutdown")


class DamagedMetadataSnapshot(Situation):
    """A broker or a controller comes back with damaged snapshots of the metadata.

    A node whose metadata log is whole can do without them. That of a broker may begin behind a snapshot that it
    fetched (seen on 4.3.1 and 4.4.0); then it has to refuse what is left. It starts or refuses within the bound
    (LIVE-07). Apache Kafka takes a snapshot without its end as whole (finding 06).
    """

    name = "damaged-metadata-snapshot"
    needs = frozenset({Capability.KILL, Capability.DIRECTORIES})
    left_out: Mapping[str, str] = {
        Dialect.KIP_631: "its controllers cut the log behind their snapshots, and do not start without a good one",
        Dialect.ZOOKEEPER: "it has no snapshots of its metadata",
        Dialect.LEADER_DRIVEN: "it has no snapshots of its metadata",
    }
    # By default a snapshot comes after 20 MB of records or an hour, and no run writes or lasts as much.
    settings: Mapping[str, str] = {"metadata.log.max.record.bytes.between.snapshots": "500"}

    def stage(self, rng: random.Random, script: Script, staged: Staged) -> bool:
        cluster = script.cluster
        nodes = (*cluster.brokers, *cluster.quorum, "active-controller")
        node, damage, how = rng.choice(nodes), rng.choice(DAMAGES), rng.choice(METHODS)
        staged.title = f"the snapshots of {node} are {damage} ({how})"
        staged.brokers, staged.quorum = (1, 0) if node in cluster.brokers else (0, 1)
        damaged = staged.inject(DamagedFileParameters(node=node, file=SNAPSHOTS, damage=damage, how=how))
        staged.hold(f"{damaged}.proven", rng.choice((0.1, 0.8, 1.5)))
        staged.heal(damaged)
        return True
