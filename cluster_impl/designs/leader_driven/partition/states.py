"""The states of a replica on this broker. Each one carries what holds in it alone; times are monotonic seconds."""

from __future__ import annotations

from dataclasses import dataclass, field

from fencepost.cluster_impl.designs.leader_driven.partition.commit_loop import CommitLoop
from fencepost.cluster_impl.designs.leader_driven.partition.hosted_topic import HostedTopic
from fencepost.cluster_impl.designs.leader_driven.znodes import Leader


@dataclass(slots=True)
class OpenReplica:
    """The replica as the data plane has it."""

    topic: HostedTopic
    is_barred: bool
    """True if the replica began empty although the partition has in-sync replicas: it may have been one of them and
    have lost its records, so it must not stand for election."""
    relook_at: float | None
    """When to check, once after a start, that the replica is still assigned to this broker."""


@dataclass(slots=True)
class Stopped:
    """The replica is not started in the present session. `replica` is that of an earlier one, unless it was closed."""

    replica: OpenReplica | None = None


@dataclass(slots=True)
class Failed:
    """The log dir of the replica has failed; `replica` is what was open in it."""

    replica: OpenReplica | None


@dataclass(slots=True)
class Started:
    """The base of the states of a started replica. Its next tick is due at `due`, if not None."""

    replica: OpenReplica
    due: float | None = field(default=None, kw_only=True)

    def next_tick(self) -> float | None:
        return self.due


@dataclass(slots=True)
class Watching(Started):
    """The base of the states in which the replica only waits for a change of /leader."""

    def next_tick(self) -> float | None:
        """Return the earlier of `due` and of the check that follows a start."""
        times = [time for time in (self.due, self.replica.relook_at) if time is not None]
        return min(times, default=None)


@dataclass(slots=True)
class WithoutLeader(Watching):
    """No leader is known."""


@dataclass(slots=True)
class Following(Watching):
    """The replica follows `leader`."""

    leader: Leader


@dataclass(slots=True)
class Standing(Started):
    """The replica waits for PreferredReplicaTime before it stands for election."""


@dataclass(slots=True)
class Elected(Started):
    """The base of the states in which the replica has a leader epoch of its own."""

    loop: CommitLoop


@dataclass(slots=True)
class CatchingUp(Elected):
    """The replica has won at `since` and waits for its followers; it does not serve clients yet."""

    since: float


@dataclass(slots=True)
class Leading(Elected):
    """The replica leads and serves clients."""


AgentState = Stopped | Failed | Started
