"""The commands of the tool, and their messages."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Awaitable, Callable, Mapping

from fencepost.cluster_impl.designs.leader_driven.admin.adding import await_leaders
from fencepost.cluster_impl.designs.leader_driven.admin.brokers import add_broker, remove_broker
from fencepost.cluster_impl.designs.leader_driven.admin.cli.session import AdminSession
from fencepost.cluster_impl.designs.leader_driven.admin.cli.tables import describe, queues
from fencepost.cluster_impl.designs.leader_driven.admin.creating import (
    MorePartitions,
    NewTopic,
    create_partitions,
    create_topic,
)
from fencepost.cluster_impl.designs.leader_driven.admin.deleting import delete_partition, delete_topic
from fencepost.cluster_impl.designs.leader_driven.admin.reassigning import await_moved, reassign
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.wire.errors import Error

FEW = 3
"""Number of refusals that are printed in full."""


async def _create_topic(to: AdminSession, given: Namespace) -> None:
    if given.replicas is not None and (given.partitions or given.replication_factor):
        message = "--replicas sets the number of partitions and replicas; leave the other two options out."
        raise RequestError(Error.INVALID_REQUEST, message)
    await to.check_cluster()
    new = NewTopic(
        given.topic,
        given.partitions or 1,
        given.replication_factor or 1,
        assignment=given.replicas,
        config=dict(given.config),
    )
    made = await to.carry_out_alone(given.topic, create_topic(to.command, new))
    without = await to.carry_out(await_leaders(to.command, given.topic, range(len(made.layout))))
    print(f"Topic {given.topic} is made, with {_partitions(len(made.layout))}.{_leaderless(without)}")


async def _delete_topic(to: AdminSession, given: Namespace) -> None:
    await to.check_cluster()
    await to.carry_out_alone(given.topic, delete_topic(to.command, given.topic))
    print(f"Topic {given.topic} is deleted.")


async def _add_partitions(to: AdminSession, given: Namespace) -> None:
    await to.check_cluster()
    more = MorePartitions(given.topic, given.to, given.replicas)
    added = await to.carry_out_alone(given.topic, create_partitions(to.command, more))
    without = await to.carry_out(await_leaders(to.command, given.topic, list(added)))
    print(f"Topic {given.topic} has {_partitions(len(added))} more, {given.to} in all.{_leaderless(without)}")


async def _delete_partition(to: AdminSession, given: Namespace) -> None:
    await to.check_cluster()
    await to.carry_out_alone(given.topic, delete_partition(to.command, given.topic, given.partition))
    print(f"Partition {given.partition} of topic {given.topic} is deleted.")


async def _reassign(to: AdminSession, given: Namespace) -> None:
    await to.check_cluster()
    wanted = dict(given.moves)
    refused = await to.carry_out_alone(given.topic, reassign(to.command, given.topic, wanted))
    accepted = [index for index in wanted if index not in refused]
    if accepted:
        print(f"{_list(accepted)} of topic {given.topic}: the reassignment is written; the leaders carry it out.")
    if refused:
        raise RequestError(next(iter(refused.values())).error, _refusals(refused))
    if given.wait:
        await to.carry_out(await_moved(to.command, given.topic, accepted))
        print(f"{_list(accepted)} of topic {given.topic} moved.")


async def _add_broker(to: AdminSession, given: Namespace) -> None:
    is_new = await to.carry_out(add_broker(given.broker))
    print(f"Broker {given.broker} {'has a queue now' if is_new else 'had a queue already'}.")


async def _remove_broker(to: AdminSession, given: Namespace) -> None:
    await to.check_cluster()
    waiting = await to.carry_out(remove_broker(given.broker))
    print(f"Broker {given.broker} is removed, with {waiting} state changes that waited for it.")


async def _describe(to: AdminSession, given: Namespace) -> None:
    await to.check_cluster()
    print(await to.carry_out(describe(given.topics)))


async def _queues(to: AdminSession, given: Namespace) -> None:
    await to.check_cluster()
    print(await to.carry_out(queues(given.brokers, show_requests=given.requests)))


def _partitions(count: int) -> str:
    return f"{count} partition{'' if count == 1 else 's'}"


def _leaderless(indexes: list[int]) -> str:
    return f" {len(indexes)} of them have no leader yet." if indexes else ""


def _refusals(refused: Mapping[int, RequestError]) -> str:
    few = [f"partition {index}: {failed}" for index, failed in sorted(refused.items())[:FEW]]
    return " ".join(few) + (f" And {len(refused) - FEW} more." if len(refused) > FEW else "")


def _list(indexes: list[int]) -> str:
    return f"Partition{'' if len(indexes) == 1 else 's'} {', '.join(map(str, sorted(indexes)))}"


COMMANDS: Mapping[str, Callable[[AdminSession, Namespace], Awaitable[None]]] = {
    "create-topic": _create_topic,
    "delete-topic": _delete_topic,
    "add-partitions": _add_partitions,
    "delete-partition": _delete_partition,
    "reassign": _reassign,
    "add-broker": _add_broker,
    "remove-broker": _remove_broker,
    "describe": _describe,
    "queues": _queues,
}
"""Each raises RequestError, CoordinationError or MalformedZnode."""
