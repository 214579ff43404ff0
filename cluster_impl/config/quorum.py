"""The keys of the design `quorum`: the metadata quorum of KIP-595 and the leases of KIP-631."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fencepost.cluster_impl.config import values
from fencepost.cluster_impl.config.table import ConfigError, Table, key
from fencepost.cluster_impl.config.values import Voter


@dataclass(frozen=True, kw_only=True)
class QuorumConfig(Table):
    """Times are seconds."""

    cluster_id: str = key("cluster.id", values.NAME, "The id of the cluster, the same for every node.")
    voters: tuple[Voter, ...] = key(
        "controller.connect",
        values.VOTERS,
        "Controllers with which this node starts, as id@host:port or as the URI of their listener; one that is "
        "reached is enough for a broker.",
    )
    controller_listeners: tuple[str, ...] = key(
        "controller.listeners",
        values.NAMES,
        "The name of the listener that controllers use; required of a controller.",
        default="",
    )
    heartbeat_interval: float = key(
        "registration.heartbeat.interval.ms",
        values.milliseconds(),
        "Time between a broker's heartbeats.",
        default="2000",
    )
    lease_timeout: float = key(
        "registration.lease.timeout.ms",
        values.milliseconds(),
        "Time after the last heartbeat at which a broker's lease ends.",
        default="20000",
    )
    election_timeout: float = key(
        "controller.quorum.election.timeout.ms",
        values.milliseconds(),
        "The time for which a candidate waits for votes.",
        default="1000",
    )
    fetch_timeout: float = key(
        "controller.quorum.fetch.timeout.ms",
        values.milliseconds(),
        "The time for which a controller waits for its leader, or a leader for its majority, before an election.",
        default="2000",
    )
    request_timeout: float = key(
        "controller.quorum.request.timeout.ms",
        values.milliseconds(),
        "The time for which a node waits for a controller's response.",
        default="2000",
    )

    controller_heartbeat_interval: float = key(
        "controller.heartbeat.interval.ms",
        values.milliseconds(),
        "Time between a controller's heartbeats.",
        default="2000",
    )
    first_metadata_format: int = key(
        "metadata.format",
        values.whole_number(1, 2, form="level"),
        "The level of the feature metadata.format with which a new cluster begins; UpdateFeatures raises it later.",
        default="2",
    )
    snapshot_lag: int = key(
        "metadata.snapshot.max.lag.records",
        values.whole_number(1),
        "The committed records behind a controller's newest snapshot at which it makes the next one.",
        default="10000",
    )

    @property
    def controller_listener(self) -> str:
        """Return the name of the listeners of controllers; empty, so without security, if none is named."""
        return next(iter(self.controller_listeners), "")

    @property
    def snapshot_timeout(self) -> float:
        """The silence after which a controller that was to make a snapshot counts as gone."""
        return 3 * self.controller_heartbeat_interval + self.request_timeout

    @property
    def voter_addresses(self) -> Mapping[int, tuple[str, int]]:
        """Host name and port of each controller, by its id."""
        return {voter.id: (voter.host, voter.port) for voter in self.voters if voter.is_known}

    @property
    def voter_ids(self) -> frozenset[int]:
        return frozenset(self.voter_addresses)

    @property
    def fetch_max_wait(self) -> float:
        """The time for which a fetch may wait for records: well within every timeout of its sender."""
        return min(0.5, self.fetch_timeout / 4, self.request_timeout / 2)

    def check(self) -> None:
        for voter in self.voters:
            if voter.listener and self.controller_listeners and voter.listener not in self.controller_listeners:
                raise ConfigError(
                    f"controller.connect names {voter.listener}://{voter.host}:{voter.port}, and "
                    f"controller.listeners has no listener {voter.listener}."
                )
        if self.heartbeat_interval >= self.lease_timeout:
            raise ConfigError(
                "registration.heartbeat.interval.ms must be shorter than registration.lease.timeout.ms: "
                "a lease would end between two heartbeats."
            )
