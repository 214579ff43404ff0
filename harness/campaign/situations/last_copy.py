"""The last in-sync replica of a partition goes away, and returns with less than it had."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING

from fencepost.faults.capabilities import Capability
from fencepost.faults.disks.damaged_file import ALL, KAFKA, DamagedFileParameters, DamageName, FileKind
from fencepost.faults.fault import EVERYWHERE
from fencepost.faults.parameters import EndingMethod
from fencepost.faults.processes.kill import KillParameters
from fencepost.harness.campaign.situations.situation import Situation, Staged
from fencepost.harness.plan.conditions.isr_is import IsrIs
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.steps.bind import Bind

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

RECORDS_STAY: tuple[FileKind, ...] = (
    FileKind("replication-offset-checkpoint", ("lost",), ("shutdown",), designs=("quorum", "zk-controller", *KAFKA)),
    FileKind("recovery-point-offset-checkpoint", ("lost",), ("shutdown",), KAFKA),
    FileKind("log-start-offset-checkpoint", ("lost",), ("shutdown",), KAFKA),
    FileKind("{partition}/*.index", ("lost", "cut"), ("kill",), KAFKA),
    FileKind("{partition}/*.timeindex", ("lost", "cut"), ("kill",), KAFKA),
    FileKind("meta.properties", ("garbage",), ("kill", "shutdown"), ALL),
)
"""The files that a broker can do without: every record is in the log, and each design promises it."""
KEEPS_ITS_PLACE = (
    "a replica of this design may lead by what its directory holds, so that no file of the last one is left out (LF-01)"
)


class LastInSyncReplica(Situation):
    """All followers die, then the leader, which returns without a file that its records do not depend on.

    Everything that was acknowledged is on its disk, and nothing may be lost, whichever of the replicas returns first.
    """

    name = "last-in-sync-replica"
    weight = 3
    needs = frozenset({Capability.KILL, Capability.DIRECTORIES})
    left_out: Mapping[str, str] = {Dialect.LEADER_DRIVEN.value: KEEPS_ITS_PLACE}

    def stage(self, rng: random.Random, script: Script, staged: Staged) -> bool:
        cluster = script.cluster
        kinds = [kind for kind in RECORDS_STAY if cluster.target_name in kind.designs]
        partition, last = rng.choice(cluster.partitions), script.name("last")
        if not kinds:
            return False
        kind = rng.choice(kinds)
        damage: DamageName = rng.choice(kind.damages)
        how: EndingMethod = rng.choice(kind.methods)
        file = kind.pattern.format(partition=partition)
        staged.title = f"{file} is {damage} at the last in-sync replica of {partition}"
        staged.brokers = cluster.replicas(partition)
        staged.steps.append(Bind(as_=last, node=f"leader:{partition}"))
        followers = staged.inject(KillParameters(nodes=f"followers:{partition}", back="running"))
        staged.steps.append(IsrIs(partition=partition, is_=f"${last}", within_ms=staged.within_ms))
        damaged = staged.inject(DamagedFileParameters(node=f"${last}", file=file, damage=damage, how=how))
        staged.hold(f"{damaged}.proven", rng.choice((0.1, 0.8, 1.5)))
        first, second = rng.choice(((followers, damaged), (damaged, followers)))
        back = staged.heal(first)
        staged.hold(f"{back}.ended", rng.choice((0.0, 0.5, 1.5)))
        staged.heal(second)
        return True


class EmptyLastReplica(Situation):
    """The last in-sync replica returns with an empty disk."""

    name = "empty-last-replica"
    left_out: Mapping[str, str] = {
        EVERYWHERE: "no design promises anything for records of which the last copy in sync is gone"
    }

    def stage(self, rng: random.Random, script: Script, staged: Staged) -> bool:
        return False
