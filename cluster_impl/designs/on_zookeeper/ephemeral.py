"""An ephemeral znode that says of its session: this id is mine."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection

from cluster_impl.coordination.errors import ConnectionLost, NodeExists, NoNode, SessionExpired
from cluster_impl.coordination.znodes import Stat
from cluster_impl.coordination.zookeeper import ZooKeeper

log = logging.getLogger(__name__)


async def hold(zookeeper: ZooKeeper, path: str, data: bytes) -> Stat:
    """Create it, or find that it is there from a create whose answer was lost. Raises NodeExists if it is another
    session's."""
    try:
        return (await zookeeper.create(path, data, ephemeral=True, make_parents=True)).stat
    except NodeExists:
        found = await zookeeper.exists(path)
        if found is not None and found.ephemeral_owner == zookeeper.session_id:
            return found
        raise


async def is_held_by_others(zookeeper: ZooKeeper, path: str, own: Collection[int]) -> bool:
    """Whether a session holds it that is none of this process's `own`, the earlier ones among them: a server that was
    cut off can say of a session that it has expired which the others keep, with its znodes, for a while (KAFKA-7165).
    False if nobody can say."""
    try:
        found = await zookeeper.exists(path)
    except (ConnectionLost, SessionExpired):
        return False
    return found is not None and found.ephemeral_owner not in own


async def until_it_may_be_free(zookeeper: ZooKeeper, path: str, what: str) -> None:
    """Until it has changed; at once if nothing is known of it. `what` names it in the log."""
    changed = asyncio.Event()
    try:
        found = await zookeeper.exists(path, lambda _: changed.set())
    except (NoNode, ConnectionLost, SessionExpired):
        return
    if found is not None:
        log.warning("%s by ZooKeeper session %x; this process waits for that to end", what, found.ephemeral_owner)
        await changed.wait()
