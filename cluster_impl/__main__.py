"""`python -m fencepost.cluster_impl NODE.properties` runs one node of the cluster.

Exit codes: 0 after SIGTERM or SIGINT, 2 if the node cannot run as configured, 1 if it failed. One message on stderr
gives the reason, unless it is a fault of this program, which ends with a traceback.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

import uvloop

from fencepost.cluster_impl.config.load import describe_keys, load_config
from fencepost.cluster_impl.config.nodes import NodeConfig, QuorumCombinedNodeConfig, QuorumControllerNodeConfig
from fencepost.cluster_impl.config.table import ConfigError
from fencepost.cluster_impl.failures import NodeFailure, StartupError
from fencepost.cluster_impl.node import BROKE, CANNOT_START, STOPPED, run_node
from fencepost.cluster_impl.storage.directory import LogDirError


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        config = load_config(options.file)
        _log_to_stderr(config)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(run_node(config))
    except (ConfigError, StartupError) as error:
        print(error, file=sys.stderr)
        return CANNOT_START
    except (LogDirError, NodeFailure) as error:
        print(error, file=sys.stderr)
        return BROKE
    return STOPPED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m fencepost.cluster_impl",
        description="Run one node of the reference cluster.",
        epilog=f"keys of the property file:\n{describe_keys()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, metavar="NODE.properties", help="the node's configuration")
    return parser


def _log_to_stderr(config: NodeConfig) -> None:
    names = f"{'controller' if isinstance(config, QuorumControllerNodeConfig) else 'broker'} {config.node_id}"
    if isinstance(config, QuorumCombinedNodeConfig):
        names = f"{names}, controller {config.controller_id}"
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO,
        format=f"%(asctime)s %(levelname)s [{names}] %(message)s",
    )


if __name__ == "__main__":
    sys.exit(main())
