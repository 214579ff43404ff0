"""`python -m cluster_impl.admin --zookeeper HOST:PORT COMMAND` works on the znodes, as each broker of the design does.

Exit codes: 0 done; 1 the command failed, and a sentence on stderr says why and what is left; 2 wrong usage, or no
ZooKeeper could be reached.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Sequence

from cluster_impl.admin.arguments import Options, parse
from cluster_impl.admin.commands import COMMANDS
from cluster_impl.admin.session import Administration
from cluster_impl.coordination.errors import CoordinationError
from cluster_impl.designs.leader_driven.admin.seam import Failed
from cluster_impl.designs.on_zookeeper.document import MalformedZnode

DONE = 0
FAILED = 1
NOT_BEGUN = 2


def main(arguments: Sequence[str] | None = None) -> int:
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
        async with Administration(options) as administration:
            try:
                await COMMANDS[options.command](administration, options.arguments)
            except (Failed, MalformedZnode) as failed:
                print(f"{options.command} failed: {failed}", file=sys.stderr)
                return FAILED
            except CoordinationError as error:
                print(f"{options.command} ended with its ZooKeeper session ({error}). {_ADVICE}", file=sys.stderr)
                return FAILED
    except TimeoutError as error:  # with the sentence of who tried to connect
        print(f"Nothing was done: {error}.", file=sys.stderr)
        return NOT_BEGUN
    return DONE


_ADVICE = "Run it again: it goes on, or cleans up first."


if __name__ == "__main__":
    sys.exit(main())
