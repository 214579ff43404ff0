"""What a cluster must be able to do for a fault to be possible: small protocols that faults are written against.

Nodes are named as in the plan. A link is directed by who opens the connection: `node-4` to `node-1` carries the
requests of node-4 and node-1's replies to them; what node-1 opens to node-4 is another link. A client site is
`site:main`; it is only ever a source. Calls block until done, raise `CapabilityError` with a sentence, and do nothing
when the wanted state is there already, so that healing can be repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol


class CapabilityError(Exception):
    """The cluster could not do what was asked; the sentence says what, where, and what to do."""


class Capability(Enum):
    """Named by targets (`capabilities:`) and by each fault."""

    KILL = "kill"
    PAUSE = "pause"
    LINKS = "links"
    DUPLICATE = "duplicate"
    LOG_DIRS = "log-dirs"
    """Several log directories, each of which can fail alone."""


class Stream(Enum):
    """One half of a link's connections."""

    REQUESTS = "requests"
    """From the side that opened the connection (Toxiproxy: upstream)."""
    REPLIES = "replies"
    """Back to it (Toxiproxy: downstream)."""


class Running(Enum):
    """What the process table says of a node."""

    NEVER_STARTED = "never started"
    RUNNING = "running"
    PAUSED = "paused"
    EXITED = "exited"


@dataclass(frozen=True)
class ProcessStatus:
    """`started` is the process's start time in unix seconds: with the pid it names one process for ever.

    `exit_code` is negative for a signal, as in subprocess; None while it runs.
    """

    running: Running
    pid: int | None = None
    started: float | None = None
    exit_code: int | None = None


class Reach(Enum):
    """What a round trip through one link met, as seen by whoever dials the address that the source dials."""

    ANSWERED = "answered"
    SILENT = "silent"
    """Connected, but no answer in time: stalled, or the destination is paused."""
    CLOSED = "closed"
    """Connected and closed again: nobody listens behind the link."""
    REFUSED = "refused"
    """The link itself is down."""


@dataclass(frozen=True)
class LinkState:
    """What the proxy reports of itself: no measurement, but it tells the streams apart."""

    enabled: bool
    stalled: frozenset[Stream] = frozenset()
    alike: bool = True
    """Of a link that several proxies make up: whether all of them are so."""


class Processes(Protocol):
    """Start and break the processes of nodes."""

    def start(self, node: str) -> None:
        """Start the node's process, on the directory that it left; does not wait for it."""

    def await_ready(self, node: str, timeout: float) -> None:
        """Until the node answers requests (fenced or not). CapabilityError with its last log lines if it does not."""

    def kill(self, node: str) -> None:
        """SIGKILL to the whole process group; returns when it is gone from the process table."""

    def pause(self, node: str) -> None:
        """SIGSTOP; returns when the process table shows it stopped."""

    def resume(self, node: str) -> None:
        """SIGCONT."""

    def status(self, node: str) -> ProcessStatus: ...

    def peers(self, node: str) -> frozenset[str]:
        """The nodes to which the process has an established connection through its links, now."""


class Links(Protocol):
    """Break and measure directed links."""

    def stall(self, source: str, destination: str, streams: frozenset[Stream]) -> None:
        """Hold back all bytes of these streams. They arrive after `restore`, and the connections live on."""

    def cut(self, source: str, destination: str) -> None:
        """End open connections and refuse new ones. Works on paused nodes too."""

    def restore(self, source: str, destination: str) -> None:
        """Neither cut nor stalled any more."""

    def state(self, source: str, destination: str) -> LinkState: ...

    def reach(self, source: str, destination: str, timeout: float) -> Reach:
        """Make one real round trip (ApiVersions, or what ZooKeeper answers) through this link's proxy. Seconds."""


class Duplicates(Protocol):
    """Start the second process that the topology holds ready for a broker id."""

    def start_duplicate(self, node: str) -> None:
        """With a directory that is empty, or cloned from the node it duplicates, as the plan says."""

    def stop_duplicate(self, node: str) -> None:
        """SIGKILL; what it wrote stays."""


class Broken(Enum):
    """How a log directory fails."""

    REPLACED = "replaced"
    """A regular file stands in its place."""
    REMOVED = "removed"
    """Nothing does."""


@dataclass(frozen=True)
class DirState:
    """What the file system says of a log directory. `error`: the kernel's answer to who opens it, None if it opens."""

    path: str
    error: str | None
    """`ENOTDIR`, `ENOENT`, …"""


class LogDirs(Protocol):
    """Break single log directories of a node, numbered from 0 in the order of its configuration."""

    def holding(self, node: str, partition: str) -> int:
        """The one that holds a partition (`t-0`). CapabilityError if none does."""

    def break_(self, node: str, number: int, how: Broken) -> None:
        """Move it aside with all that it holds. What a process has open in it goes on working; what it opens fails."""

    def restore(self, node: str, number: int) -> None:
        """Put back what was moved aside; whatever stands in its place is moved out of the way."""

    def state(self, node: str, number: int) -> DirState: ...


class Cluster(Protocol):
    """A running cluster, as far as faults see it."""

    @property
    def processes(self) -> Processes: ...

    @property
    def links(self) -> Links: ...

    @property
    def duplicates(self) -> Duplicates: ...

    @property
    def log_dirs(self) -> LogDirs: ...


@dataclass(frozen=True)
class Evidence:
    """What was measured, and whether it proves the claim. `measured` is journalled as it is: JSON only."""

    proven: bool
    how: str
    measured: Mapping[str, object]
