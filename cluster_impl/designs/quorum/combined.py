"""A broker and a controller in one process, on one event loop (KIP-631, Nodes; decision 0066).

They share nothing else: each has its own id, listeners, directory and connections, and the broker reaches its own
controller as it reaches the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from fencepost.cluster_impl.config.nodes import QuorumCombinedNodeConfig
from fencepost.cluster_impl.designs.quorum.broker.node import BrokerNode
from fencepost.cluster_impl.designs.quorum.controller.node import ControllerNode
from fencepost.cluster_impl.metrics.samples import Sample


class CombinedNode:
    """Implements `fencepost.cluster_impl.node.Node`. What ends one of the two ends the process."""

    def __init__(self, config: QuorumCombinedNodeConfig) -> None:
        self._controller = ControllerNode(config.controller)
        self._broker = BrokerNode(config.broker)

    async def start(self) -> None:
        """Start the controller, then the broker. Raises what either raises."""
        await self._controller.start()
        await self._broker.start()

    def metrics(self) -> Iterable[Sample]:
        yield from self._controller.metrics()
        yield from self._broker.metrics()

    async def failed(self) -> None:
        """Wait for ever, or raise the failure of either."""
        await asyncio.gather(self._controller.failed(), self._broker.failed())

    async def stop(self) -> None:
        """Stop the broker first: it may be this controller that grants its shutdown."""
        await self._broker.stop()
        await self._controller.stop()
