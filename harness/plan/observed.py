"""A run in progress, as the conditions of its plan see it. The engine brings what is described here.

A method that resolves references waits a few seconds for a role without a node, and raises StepError if it stays so.
One that reads a state raises UnresolvedRole while it is unknown: the condition does not hold then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from fencepost.faults.capabilities import Processes
from fencepost.harness.plan.base import NodeRef, NodeRefs, Release, Value


class DecidedPartition(Protocol):
    """A partition as the controllers decided it, or as ZooKeeper has it. Leader -1 is no leader."""

    def __str__(self) -> str: ...

    @property
    def topic(self) -> str: ...

    @property
    def partition(self) -> int: ...

    @property
    def leader(self) -> int: ...

    @property
    def leader_epoch(self) -> int: ...

    @property
    def version(self) -> int:
        """The version that an ISR change is compared with."""

    @property
    def isr(self) -> tuple[int, ...]: ...

    @property
    def replicas(self) -> tuple[int, ...]: ...

    @property
    def adding(self) -> tuple[int, ...]: ...

    @property
    def removing(self) -> tuple[int, ...]: ...


class DescribedPartition(Protocol):
    """A partition as a broker describes it."""

    @property
    def leader(self) -> int: ...

    @property
    def offline(self) -> tuple[int, ...]: ...


class Attempts(Protocol):
    """Requests that are sent again with each call until all are served; `seen`: what stands in the way."""

    def __call__(self) -> bool: ...

    @property
    def seen(self) -> str: ...


class Search(Protocol):
    """A question with a yes or a no that the journal gets more about: `found`."""

    def __call__(self) -> bool: ...

    @property
    def found(self) -> Mapping[str, object]: ...


class Agreement(Attempts, Search, Protocol):
    """A comparison of what all brokers describe."""


class Measurement(Protocol):
    """A number, None if there is none (yet); `found`: all that was read, for the journal."""

    def __call__(self) -> int | None: ...

    @property
    def found(self) -> Mapping[str, object]: ...


class Resolved(Protocol):
    """The references and values of the plan, resolved when a wait begins or a request is sent."""

    def node(self, ref: NodeRef) -> str:
        """Return the one node that a reference resolves to. StepError unless it is one."""

    def nodes(self, refs: NodeRefs | None) -> tuple[str, ...]:
        """Return the nodes that references resolve to, each once."""

    def id(self, ref: NodeRef) -> int:
        """Return the id of the one node that a reference resolves to."""

    def broker_epoch(self, value: Value, node: str) -> int:
        """Return the broker epoch of `node` that a plan's value stands for."""

    def leader_epoch(self, value: Value, partition: str) -> int:
        """Return the leader epoch of `partition` that a plan's value stands for."""


class Observed(Resolved, Protocol):
    """The latest observation of the cluster, and what can be measured of it."""

    @property
    def processes(self) -> Processes: ...

    def ids(self, refs: NodeRefs | None) -> frozenset[int]:
        """Return the ids of the nodes that references resolve to."""

    def version_of(self, release: Release) -> str:
        """Return the version of the old or the new release of the target. StepError if it has one release."""

    # The latest observation

    def registered_as(self, node: str) -> str | None:
        """Return the state of the broker's registration (`active`, `fenced`, `gone`, ...); None without one."""

    def broker_epoch_now(self, node: str) -> int:
        """Return the epoch of the broker's latest registration. UnresolvedRole without one."""

    def answer(self, node: str) -> str:
        """Return how the broker took the last question: `serving`, `refusing`, `silent`, `closed` or `unknown`."""

    def broker_in_words(self, node: str) -> str:
        """Return what is known of a broker, as a clause."""

    def brokers_known_to(self, node: str) -> frozenset[int]:
        """Return the ids of the live brokers in the node's own metadata."""

    def described(self, node: str, partition: str) -> DescribedPartition | None:
        """Return the partition in the node's own metadata; None if it is not there."""

    def partition(self, name: str) -> DecidedPartition:
        """Return the partition as it was decided. UnresolvedRole if there is none."""

    def active_controller(self) -> str:
        """Return the active controller. UnresolvedRole if there is none now."""

    def controllers_in_words(self) -> str:
        """Return what controllers say of themselves, as a clause."""

    def queued(self, node: str) -> int:
        """Return the number of requests in the broker's queue of state changes."""

    def znode(self, path: str) -> Callable[[], str | None]:
        """Have a path of ZooKeeper read from now on; return a function for its data, None for no such znode."""

    # Clients

    def acknowledged(self, producer: str | None) -> int:
        """Return the number of records that were acknowledged so far; None: to all producers together."""

    def read(self, consumer: str | None, group: str | None) -> int:
        """Return the number of records that a consumer, a group or all of them read so far."""

    def topic_creation(self, node: str, topic: str) -> Attempts:
        """Create a topic through a broker."""

    def administration(self, name: str) -> Search:
        """Have every running broker serve an administrator, whose topics are named after `name`."""

    def settings_agreement(self, values: Mapping[str, Mapping[str, str | None]]) -> Agreement:
        """Compare the settings of topics that the running brokers describe, and with `values`."""

    # Measurements

    def running_release(self, node: str) -> str | None:
        """Return the release that the node's present process has logged; None if it has not (yet)."""

    def log_search(self, node: str, pattern: str, since: str | None) -> Search:
        """Search the node's log for a line, from the instant `since` on."""

    def watch_count(self, kind: str, topics: str | None) -> Measurement:
        """Count the watches of one kind that all ZooKeeper servers hold together."""

    def checkpoint(self, node: str, partition: str) -> Measurement:
        """Read the high watermark in the node's checkpoint file."""

    def log_end(self, node: str, partition: str) -> Measurement:
        """Read the offset after the last complete batch in the node's segment files."""

    def voter_progress(self) -> Attempts:
        """Compare what each voter has fetched with what the active controller had at the first question."""

    def convergence(self) -> Attempts:
        """Compare everything that nodes say with a whole cluster."""
