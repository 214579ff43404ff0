"""What a cluster must be able to do for a fault to be possible: small protocols that faults are written against.

Nodes are named as in the plan. A link is directed by who opens the connection: `node-4` to `node-1` carries the
requests of node-4 and node-1's replies to them; what node-1 opens to node-4 is another link. A client site is
`site:main`; it is only ever a source. Calls block until done, raise `CapabilityError` with a sentence, and do nothing
when the wanted state is there already, so that healing can be repeated.
"""

from __future__ import annotations

from faults.capabilities.base import Capability, CapabilityError, Evidence
from faults.capabilities.clocks import ClockReading, Clocks
from faults.capabilities.cluster import Cluster
from faults.capabilities.containers import Containers, Limits
from faults.capabilities.directories import Claim, Contents, Directories
from faults.capabilities.disks import (
    CHANGES,
    Broken,
    DirState,
    DiskRule,
    Disks,
    Flip,
    LogDirs,
    Lost,
    Operation,
    Probed,
)
from faults.capabilities.links import (
    BOTH,
    CUT,
    HEALTHY,
    Harm,
    Held,
    Links,
    LinkState,
    Reach,
    RoundTrip,
    Stream,
    Toxic,
    Transfer,
)
from faults.capabilities.processes import Duplicates, Processes, ProcessStatus, Running

__all__ = [
    "BOTH",
    "CHANGES",
    "CUT",
    "HEALTHY",
    "Broken",
    "Capability",
    "CapabilityError",
    "Claim",
    "ClockReading",
    "Clocks",
    "Cluster",
    "Containers",
    "Contents",
    "DirState",
    "Directories",
    "DiskRule",
    "Disks",
    "Duplicates",
    "Evidence",
    "Flip",
    "Harm",
    "Held",
    "Limits",
    "LinkState",
    "Links",
    "LogDirs",
    "Lost",
    "Operation",
    "Probed",
    "ProcessStatus",
    "Processes",
    "Reach",
    "RoundTrip",
    "Running",
    "Stream",
    "Toxic",
    "Transfer",
]
