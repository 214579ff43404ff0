"""A node as a process: started from its configuration, ended by a signal, with one exit code for each way to end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from typing import Protocol

from cluster_impl.config import NodeConfig
from cluster_impl.config_values import Role
from cluster_impl.designs.quorum.broker.node import BrokerNode
from cluster_impl.designs.quorum.controller.node import ControllerNode
from cluster_impl.storage.directory import LogDirError

log = logging.getLogger(__name__)

STOPPED = 0
CANNOT_START = 2


class StartupError(Exception):
    """The node cannot run as configured. The message is one sentence."""


class Node(Protocol):
    async def start(self) -> None:
        """Returns once the node listens. Raises OSError, LogDirError or ValueError with a sentence if it cannot."""
        ...

    async def failed(self) -> None:
        """Returns never; raises what a part of the node died of."""
        ...

    async def stop(self) -> None:
        """End in order: what can be handed over is handed over, within a bound."""
        ...


def make_node(config: NodeConfig) -> Node:
    return ControllerNode(config) if config.role is Role.CONTROLLER else BrokerNode(config)


async def run_node(config: NodeConfig) -> None:
    """Run until SIGTERM or SIGINT. Raises StartupError, and whatever ends a node that should go on."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    try:
        node = make_node(config)
        await node.start()
    except (OSError, LogDirError, ValueError) as error:
        raise StartupError(str(error)) from error
    log.info("the node has started")
    stopping = asyncio.create_task(stop.wait())
    failing = asyncio.create_task(node.failed())
    await asyncio.wait({stopping, failing}, return_when=asyncio.FIRST_COMPLETED)
    if failing.done():
        failing.result()
    log.info("the node is stopping")
    failing.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await failing
    await node.stop()
    log.info("the node has stopped")
