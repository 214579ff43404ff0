"""How a leader changes its ISR: by compare-and-set on the partition's /ISR, which holds the epoch as well (DLD-04).

Whoever became leader since has written a new epoch there, so a leader that was given up while it slept finds that its
write fails. That is how it learns it if it does not know yet.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from cluster_impl.coordination.errors import SessionExpired
from cluster_impl.coordination.execution import Execution
from cluster_impl.coordination.steps import BadVersion, Done, Found, SetData, Steps, read
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.on_zookeeper.document import MalformedZnode
from cluster_impl.replication.control_plane import (
    IsrAccepted,
    IsrOutcome,
    IsrProposal,
    IsrRefused,
    IsrUnknown,
    TopicPartition,
)
from cluster_impl.wire.errors import Error


def change_isr(proposal: IsrProposal) -> Steps[IsrOutcome]:
    """Write the ISR if it is still the one that the proposal builds on."""
    partition = TopicPartition(proposal.topic, proposal.partition)
    path = znodes.isr(partition)
    wanted = znodes.InSync(proposal.isr, proposal.leader_epoch)
    [outcome] = yield [SetData(path, znodes.write_isr(wanted), proposal.version)]
    if isinstance(outcome, Done):
        return _accepted(proposal, outcome.version)
    if not isinstance(outcome, BadVersion):
        return IsrRefused(Error.UNKNOWN_TOPIC_OR_PARTITION)
    found = yield from read(path)
    if not isinstance(found, Found):
        return IsrRefused(Error.UNKNOWN_TOPIC_OR_PARTITION)
    try:
        now = znodes.read_isr(partition, found.data, found.stat.version)
    except MalformedZnode:
        return IsrRefused(Error.INVALID_UPDATE_VERSION)
    if (now.isr, now.epoch) == (wanted.isr, wanted.epoch):
        return _accepted(proposal, now.version)  # an earlier attempt of this same leader came through
    is_led_anew = now.epoch != proposal.leader_epoch
    return IsrRefused(Error.FENCED_LEADER_EPOCH if is_led_anew else Error.INVALID_UPDATE_VERSION)


def _accepted(proposal: IsrProposal, version: int) -> IsrAccepted:
    return IsrAccepted(isr=proposal.isr, leader_epoch=proposal.leader_epoch, version=version)


class IsrChanges:
    """`execution` gives that of the present session. `timeout` bounds, in seconds, how long a fate is waited for."""

    def __init__(self, execution: Callable[[], Execution], timeout: float) -> None:
        self._execution = execution
        self._timeout = timeout

    async def change(self, proposal: IsrProposal) -> IsrOutcome:
        try:
            async with asyncio.timeout(self._timeout):
                return await self._execution().run(change_isr(proposal))
        except TimeoutError:
            return IsrUnknown(f"ZooKeeper did not answer within {self._timeout:g} s")
        except SessionExpired as error:
            return IsrUnknown(str(error))
