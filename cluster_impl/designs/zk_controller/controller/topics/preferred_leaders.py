"""Elections of preferred leaders, on request or periodically (Kafka Internals (2017)).

ElectLeaders (43) requests unclean elections, too: the first online replica leads a partition whose ISR is away.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable

from fencepost.cluster_impl.config.zk_controller import ZkControllerConfig
from fencepost.cluster_impl.coordination.steps import Delete, Exists, Found, Steps, read
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.shared.partition_requests import (
    Election,
    check_election_type,
    elected,
    election_not_needed,
    preferred_not_available,
    requested_elections,
    unknown_partition,
)
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.controller.state import selectors
from fencepost.cluster_impl.designs.zk_controller.controller.state.machines import StateMachines
from fencepost.cluster_impl.designs.zk_controller.controller.state.selectors import LeaderChoice
from fencepost.cluster_impl.designs.zk_controller.znodes import LeaderAndIsr
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)


class PreferredLeaders:
    """Elects preferred leaders by /admin/preferred_replica_election and by the imbalance check."""

    def __init__(self, machines: StateMachines, config: ZkControllerConfig) -> None:
        self._machines = machines
        self._context = machines.context
        self._config = config
        self._next_check: float | None = None

    def read_requested(self) -> Steps[None]:
        """Read /admin/preferred_replica_election, with a watch; try its elections, and delete it."""
        yield [Exists(znodes.PREFERRED_REPLICA_ELECTION, watch=True)]
        found = yield from read(znodes.PREFERRED_REPLICA_ELECTION)
        if not isinstance(found, Found):
            return
        try:
            requested = znodes.read_partitions(znodes.PREFERRED_REPLICA_ELECTION, found.data)
        except MalformedZnode as problem:
            log.error("no preferred leader is elected: %s", problem)
            requested = []
        yield from self._elect(requested)
        yield [Delete(znodes.PREFERRED_REPLICA_ELECTION, found.stat.version)]

    def answer(self, request: m.ElectLeadersRequest) -> Steps[m.ElectLeadersResponse]:
        """Carry out the elections that ElectLeaders requests; one that fails or is not needed changes nothing."""
        try:
            election = check_election_type(request)
        except RequestError as error:
            return m.ElectLeadersResponse(error_code=error.error)
        wanted, named = requested_elections(request, self._context.partitions())
        outcomes = {at: self._problem(at, election) for at in wanted}
        possible = [at for at, problem in outcomes.items() if problem is None]
        if election is Election.PREFERRED:
            yield from self._elect(possible)
        else:
            yield from self._machines.partitions.elect(possible, self._unclean)
        for at in possible:
            outcomes[at] = self._failure(at, election)
        return elected(outcomes, named=named)

    def _problem(self, at: TopicPartition, election: Election) -> RequestError | None:
        """Return why no election is tried, None if one is."""
        replicas, leader = self._context.replicas(at), self._context.leader(at)
        if not replicas or at.topic in self._context.to_delete:
            return unknown_partition(at)
        if election is Election.PREFERRED:
            if leader == replicas[0]:
                return election_not_needed(leader)
            return None if at in self._context.leadership else preferred_not_available(replicas[0])
        if self._context.is_online(leader, at):
            return election_not_needed(leader)
        return None if at in self._context.leadership else _none_eligible(replicas)

    def _failure(self, at: TopicPartition, election: Election) -> RequestError | None:
        """Return why an election had no effect, None if it had."""
        replicas, leader = self._context.replicas(at), self._context.leader(at)
        if election is Election.PREFERRED:
            return None if leader == replicas[0] else preferred_not_available(replicas[0])
        return None if self._context.is_online(leader, at) else _none_eligible(replicas)

    def _unclean(self, partition: TopicPartition, known: LeaderAndIsr) -> LeaderChoice | None:
        replicas, online = self._context.replicas(partition), self._context.online_replicas(partition)
        return selectors.offline(replicas, known.isr, online, self._context.stopping, unclean=True)

    def elected(self, now: float) -> None:
        if self._config.auto_leader_rebalance:
            self._next_check = now + self._config.leader_imbalance_check_interval

    def next_check(self) -> float | None:
        return self._next_check

    def check(self, now: float) -> Steps[None]:
        """Elect the preferred leader of partitions where a broker lacks too many of its preferred leaderships."""
        if self._next_check is None or now < self._next_check:
            return
        self._next_check = now + self._config.leader_imbalance_check_interval
        preferred: dict[int, list[TopicPartition]] = {}
        for partition in self._context.leadership:
            if partition.topic not in self._context.to_delete:
                replicas = self._context.replicas(partition)
                preferred.setdefault(replicas[0], []).append(partition)
        for broker_id, partitions in preferred.items():
            lost = [partition for partition in partitions if self._context.leader(partition) != broker_id]
            if len(lost) * 100 > len(partitions) * self._config.leader_imbalance_percentage:
                yield from self._elect(partition for partition in lost if partition not in self._context.reassigned)

    def _elect(self, partitions: Iterable[TopicPartition]) -> Steps[None]:
        """Elect the preferred leader where it can lead and does not; other partitions stay as they are."""

        def select(partition: TopicPartition, known: LeaderAndIsr) -> LeaderChoice | None:
            replicas = self._context.replicas(partition)
            online = [
                replica for replica in self._context.online_replicas(partition) if replica not in self._context.stopping
            ]
            return None if known.leader == replicas[0] else selectors.preferred(replicas, known.isr, online)

        possible = [
            partition
            for partition in partitions
            if partition in self._context.leadership and partition.topic not in self._context.deletion_begun
        ]
        yield from self._machines.partitions.elect(possible, select)


def _none_eligible(replicas: Collection[int]) -> RequestError:
    message = f"None of the replicas {list(replicas)} is online."
    return RequestError(Error.ELIGIBLE_LEADERS_NOT_AVAILABLE, message)
