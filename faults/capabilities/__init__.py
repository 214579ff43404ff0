"""The small protocols that faults are written against: the operations that a cluster must be capable of.

Nodes are named as in the plan. A link has the direction in which connections are opened: `node-4` to `node-1` carries
the requests of node-4 and node-1's replies to them; connections that node-1 opens to node-4 are another link. A client
site is `site:main`; it is only ever a source. Calls block until done, raise `CapabilityError` with a message, and do
nothing if the requested state is there already, so that healing can be repeated.
"""

from __future__ import annotations

from fencepost.faults.capabilities.base import Capability, CapabilityError, Evidence
from fencepost.faults.capabilities.clocks import ClockReading, Clocks
from fencepost.faults.capabilities.cluster import Cluster
from fencepost.faults.capabilities.containers import Containers, Limits
from fencepost.faults.capabilities.directories import Claim, Contents, Damage, Directories
from fencepost.faults.capabilities.disks import (
    CHANGES,
    Broken,
    DirState,
    DiskProbe,
    DiskRule,
    Disks,
    Flip,
    LogDirs,
    LostWrites,
    Operation,
    StaleBlock,
)
from fencepost.faults.capabilities.links import (
    BOTH,
    CUT,
    HEALTHY,
    Harm,
    Links,
    LinkState,
    OpenConnection,
    ProbeResult,
    RoundTrip,
    Stream,
    Toxic,
    Transfer,
)
from fencepost.faults.capabilities.messages import Fate, MessageCounts, MessageRule, Messages, Part
from fencepost.faults.capabilities.processes import (
    ORDERLY,
    Duplicates,
    Processes,
    ProcessStatus,
    Running,
    exit_in_words,
)
from fencepost.faults.capabilities.security import Certificate, Certificates, Shown, Users

__all__ = [
    "BOTH",
    "CHANGES",
    "CUT",
    "HEALTHY",
    "ORDERLY",
    "Broken",
    "Capability",
    "CapabilityError",
    "Certificate",
    "Certificates",
    "Claim",
    "ClockReading",
    "Clocks",
    "Cluster",
    "Containers",
    "Contents",
    "Damage",
    "DirState",
    "Directories",
    "DiskProbe",
    "DiskRule",
    "Disks",
    "Duplicates",
    "Evidence",
    "Fate",
    "Flip",
    "Harm",
    "Limits",
    "LinkState",
    "Links",
    "LogDirs",
    "LostWrites",
    "MessageCounts",
    "MessageRule",
    "Messages",
    "OpenConnection",
    "Operation",
    "Part",
    "ProbeResult",
    "ProcessStatus",
    "Processes",
    "RoundTrip",
    "Running",
    "Shown",
    "StaleBlock",
    "Stream",
    "Toxic",
    "Transfer",
    "Users",
    "exit_in_words",
]
