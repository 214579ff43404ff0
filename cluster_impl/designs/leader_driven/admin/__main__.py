"""The administration tool of the leader-driven design; it changes the znodes as a broker does.

    python -m fencepost.cluster_impl.designs.leader_driven.admin --zookeeper HOST:PORT COMMAND

Exit codes: 0 done; 1 the command failed, and a message on stderr says why and what is left; 2 wrong usage, or no
ZooKeeper could be reached.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Sequence

from fencepost.cluster_impl.coordination.errors import CoordinationError
from fencepost.cluster_impl.designs.leader_driven.admin.cli.arguments import Options, parse
from fencepost.cluster_impl.designs.leader_driven.admin.cli.commands import COMMANDS
from fencepost.cluster_impl.designs.leader_driven.admin.cli.session import AdminSession
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError

DONE = 0
FAILED = 1
NOT_BEGUN = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    options = parse(arguments)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(message)s")
    logging.getLogger("state.change").setLevel(logging.INFO if options.verbose else logging.WARNING)
    try:
        return asyncio.run(_run(options))
    except KeyboardInterrupt:
        print(f"{options.command} was interrupted. {_ADVICE}", file=sys.stderr)
        return FAILED


async def _run(options: Options) -> int:
    try:
        async with AdminSession(options) as administration:
            try:
                await COMMANDS[options.command](administration, options.arguments)
            except (RequestError, MalformedZnode) as failed:
                print(f"{options.command} failed: {failed}", file=sys.stderr)
                return FAILED
            except CoordinationError as error:
                print(f"{options.command} ended with its ZooKeeper session ({error}). {_ADVICE}", file=sys.stderr)
                return FAILED
    except TimeoutError as error:  # its message names the ZooKeeper servers
        print(f"Nothing was done: {error}.", file=sys.stderr)
        return NOT_BEGUN
    return DONE


_ADVICE = "Run it again: it continues, or cleans up first."


if __name__ == "__main__":
    sys.exit(main())
