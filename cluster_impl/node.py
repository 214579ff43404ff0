"""A node as a process: started from its configuration, ended by a signal, with one exit code for each way to end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from typing import Protocol

from cluster_impl.config import NodeConfig
from cluster_impl.config_values import Role
from cluster_impl.endings import StartupError
from cluster_impl.storage.checkpoints import CorruptCheckpoint
from cluster_impl.storage.directory import LogDirError

log = logging.getLogger(__name__)

STOPPED = 0
BROKE = 1
CANNOT_START = 2


class Node(Protocol):
    async def start(self) -> None:
        """Returns once the node listens, and has its id where that may take time.

        Raises OSError, LogDirError, CorruptCheckpoint, ValueError or StartupError with a sentence if it cannot.
        """
        ...

    async def failed(self) -> None:
        """Returns never; raises what a part of the node died of: NodeFailure or LogDirError with a sentence."""
        ...

    async def stop(self) -> None:
        """End in order, also after a start that was cut short: what can be handed over is, within a bound."""
        ...


def make_node(config: NodeConfig) -> Node:
    """Each design is imported where it is chosen: no node waits for the code of another."""
    match config.role:
        case Role.CONTROLLER:
            from cluster_impl.designs.quorum.controller.node import ControllerNode

            return ControllerNode(config)
        case Role.BROKER:
            from cluster_impl.designs.quorum.broker.node import BrokerNode

            return BrokerNode(config)
        case Role.LEGACY if config.leader_driven is not None:
            from cluster_impl.designs.leader_driven.node import LeaderDrivenNode

            return LeaderDrivenNode(config)
        case Role.LEGACY:
            from cluster_impl.designs.zk_controller.node import ZkNode

            return ZkNode(config)


async def run_node(config: NodeConfig) -> None:
    """Run until SIGTERM or SIGINT. Raises StartupError, and whatever ends a node that should go on."""
    stop = asyncio.Event()
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
    await node.stop()
    log.info("the node has stopped")


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
