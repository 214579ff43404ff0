"""A node as a process: started from its configuration, stopped by a signal, with one exit code for each reason."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from fencepost.cluster_impl.config.nodes import (
    LeaderDrivenNodeConfig,
    NodeConfig,
    QuorumBrokerNodeConfig,
    QuorumCombinedNodeConfig,
    QuorumControllerNodeConfig,
    ZkControllerNodeConfig,
)
from fencepost.cluster_impl.failures import StartupError
from fencepost.cluster_impl.metrics.samples import Sample
from fencepost.cluster_impl.storage.checkpoints import CorruptCheckpoint
from fencepost.cluster_impl.storage.directory import LogDirError

if TYPE_CHECKING:
    from fencepost.cluster_impl.metrics.endpoint import MetricsEndpoint

log = logging.getLogger(__name__)

STOPPED = 0
BROKE = 1
CANNOT_START = 2


class Node(Protocol):
    async def start(self) -> None:
        """Start, and return once the node listens and, in designs where that may take time, has its id.

        Raises OSError, LogDirError, CorruptCheckpoint, ValueError or StartupError with a message.
        """
        ...

    def metrics(self) -> Iterable[Sample]:
        """Return the node's metrics now. Called after `start`, on the event loop."""
        ...

    async def failed(self) -> None:
        """Never return; raise the error that ended a part of the node: NodeFailure or LogDirError with a message."""
        ...

    async def stop(self) -> None:
        """Stop in order, also after a start that was cut short, and hand over leaderships within a time limit."""
        ...


def make_node(config: NodeConfig) -> Node:
    """Make the node of this configuration; only the chosen design is imported, to start quickly and use less memory."""
    match config:
        case QuorumControllerNodeConfig():
            from fencepost.cluster_impl.designs.quorum.controller.node import ControllerNode

            return ControllerNode(config)
        case QuorumCombinedNodeConfig():
            from fencepost.cluster_impl.designs.quorum.combined import CombinedNode

            return CombinedNode(config)
        case QuorumBrokerNodeConfig():
            from fencepost.cluster_impl.designs.quorum.broker.node import BrokerNode

            return BrokerNode(config)
        case LeaderDrivenNodeConfig():
            from fencepost.cluster_impl.designs.leader_driven.node import LeaderDrivenNode

            return LeaderDrivenNode(config)
        case ZkControllerNodeConfig():
            from fencepost.cluster_impl.designs.zk_controller.node import ZkNode

            return ZkNode(config)
    raise AssertionError(f"no node runs with a {type(config).__name__}")


def open_metrics(config: NodeConfig, node: Node) -> MetricsEndpoint | None:
    """Open the endpoint of the metrics if the node is configured to have one. Raises OSError with a message."""
    if config.metrics_listener is None:
        return None
    from fencepost.cluster_impl.metrics.endpoint import MetricsEndpoint

    return MetricsEndpoint(config.metrics_listener, node.metrics)


async def run_node(config: NodeConfig) -> None:
    """Run until SIGTERM or SIGINT. Raises StartupError, and the errors of `Node.failed`."""
    stop = asyncio.Event()
    metrics = None
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    stopping = asyncio.create_task(stop.wait())
    try:
        node = make_node(config)
        starting = asyncio.create_task(node.start())
        await asyncio.wait({stopping, starting}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            metrics = open_metrics(config, node)
        else:
            await _cancelled(starting)
    except (OSError, LogDirError, CorruptCheckpoint, ValueError) as error:
        raise StartupError(str(error)) from error
    if not stopping.done():
        log.info("the node has started")
        failing = asyncio.create_task(node.failed())
        await asyncio.wait({stopping, failing}, return_when=asyncio.FIRST_COMPLETED)
        if failing.done():
            failing.result()
        await _cancelled(failing)
    log.info("the node is stopping")
    if metrics is not None:
        await metrics.close()
    await node.stop()
    log.info("the node has stopped")


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
