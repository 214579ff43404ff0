"""The command-line arguments of the tool, and its help."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

_DESCRIPTION = """\
Administer a cluster of the reference implementation that has no controller (replication.design=leader-driven).

The tool changes the znodes in ZooKeeper exactly as a broker does for a client's request: it announces the change,
puts requests into the queues of the brokers, and waits until they are taken. Only ZooKeeper must be reachable from
here, not the brokers. One command at a time works on a topic; others wait for it."""

_EPILOG = """\
examples, with a ZooKeeper at localhost:2181:

  admin="python -m fencepost.cluster_impl.designs.leader_driven.admin --zookeeper localhost:2181"
  $admin create-topic orders --partitions 6 --replication-factor 3
  $admin create-topic audit --replicas 4,5,6 5,6,4 --config min.insync.replicas=2
  $admin add-partitions orders --to 12
  $admin reassign orders 0=5,6,7 1=6,7,5 --wait
  $admin describe orders
  $admin queues
  $admin delete-topic orders

exit codes:

  0  done
  1  the command failed; stderr says why, what is left, and what to do. Commands can be repeated: the next attempt
     continues where the last one ended, or cleans up first.
  2  wrong usage, or no ZooKeeper could be reached; nothing was done."""


@dataclass(frozen=True, slots=True)
class Options:
    """The parsed arguments. `timeout` is in seconds; `arguments` holds those of the command, by name."""

    zookeeper: str
    timeout: float
    queue_capacity: int
    verbose: bool
    command: str
    arguments: argparse.Namespace


def parse(arguments: Sequence[str] | None = None) -> Options:
    """Parse the arguments. Wrong usage ends the process with exit code 2 and a message."""
    parser = _parser()
    given = parser.parse_args(arguments)
    moved = Counter(index for index, _ in getattr(given, "moves", ()))
    repeated = next((index for index, times in moved.items() if times > 1), None)
    if repeated is not None:
        parser.error(f"partition {repeated} is named more than once")
    return Options(given.zookeeper, given.timeout, given.queue_capacity, given.verbose, given.command, given)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m fencepost.cluster_impl.designs.leader_driven.admin",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--zookeeper",
        required=True,
        type=_servers,
        metavar="HOST:PORT[,HOST:PORT...][/PATH]",
        help="the servers, as in zookeeper.connect",
    )
    parser.add_argument(
        "--timeout",
        type=_positive(float),
        default=30.0,
        metavar="SECONDS",
        help="how long brokers may take to follow each batch of requests, and another command may hold the topic "
        "(default: 30)",
    )
    parser.add_argument(
        "--queue-capacity",
        type=_positive(int),
        default=1000,
        metavar="N",
        help="state.change.queue.max.requests of the brokers (default: 1000)",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="log each requested state change")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_topic_commands(commands)
    _add_partition_commands(commands)
    _add_cluster_commands(commands)
    return parser


class _Commands(Protocol):
    """The part of argparse's subparsers that is used here; their own type has no public name."""

    def add_parser(self, name: str, **arguments: Any) -> argparse.ArgumentParser: ...


def _command(commands: _Commands, name: str, summary: str, more: str = "") -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}. {more}".strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _add_topic_commands(commands: _Commands) -> None:
    create = _command(
        commands,
        "create-topic",
        "create a topic",
        "It first cleans up what a failed attempt\nto create the same topic left. Replicas go to live brokers only.",
    )
    create.add_argument("topic", help="its name")
    create.add_argument("--partitions", type=_positive(int), metavar="N", help="how many partitions (default: 1)")
    create.add_argument("--replication-factor", type=_positive(int), metavar="N", help="replicas of each (default: 1)")
    _add_replicas(create, "the replicas of each partition, the preferred one first: 4,5,6 5,6,4 makes two partitions")
    create.add_argument(
        "--config", type=_setting, nargs="+", default=[], metavar="NAME=VALUE", help="settings: min.insync.replicas=2"
    )
    delete = _command(
        commands,
        "delete-topic",
        "delete a topic",
        "The leaders have\nevery replica closed. Live brokers are waited for; a broker that is away finds the request "
        "in\nits queue when it is back.",
    )
    delete.add_argument("topic", help="its name")


def _add_partition_commands(commands: _Commands) -> None:
    add = _command(commands, "add-partitions", "give a topic more partitions")
    add.add_argument("topic", help="its name")
    add.add_argument("--to", type=_positive(int), required=True, metavar="COUNT", help="how many it shall have in all")
    _add_replicas(add, "the replicas of each new partition, the preferred one first")
    delete = _command(commands, "delete-partition", "delete the last partition of a topic, with its records")
    delete.add_argument("topic", help="its name")
    delete.add_argument("partition", type=_not_negative, help="its number, which must be the highest of the topic")
    move = _command(
        commands,
        "reassign",
        "give partitions other replicas",
        "This writes down what\nshall be; the leader of each partition starts the new replicas, waits until they have\n"
        "caught up, and closes the old ones. It cannot be called off.",
    )
    move.add_argument("topic", help="its name")
    move.add_argument(
        "moves", type=_move, nargs="+", metavar="PARTITION=ID,ID,...", help="0=5,6,7: the preferred replica first"
    )
    move.add_argument("--wait", action="store_true", help="until the partitions are moved, or the timeout is over")


def _add_cluster_commands(commands: _Commands) -> None:
    add = _command(
        commands,
        "add-broker",
        "make the queue of a broker",
        "A broker that starts makes\nits own; do this where requests shall wait for it before it starts.",
    )
    add.add_argument("broker", type=_not_negative, help="its id")
    remove = _command(
        commands,
        "remove-broker",
        "delete the queue of a broker that is gone for good",
        "Refused\nwhile it runs, and while a partition is assigned to it.",
    )
    remove.add_argument("broker", type=_not_negative, help="its id")
    describe = _command(commands, "describe", "show topics: leaders, epochs, in-sync, assigned and new replicas")
    describe.add_argument("topics", nargs="*", metavar="topic", help="which (default: all)")
    queues = _command(commands, "queues", "show how many state changes wait for each broker")
    queues.add_argument("brokers", nargs="*", type=_not_negative, metavar="broker", help="which (default: all)")
    queues.add_argument("--requests", action="store_true", help="show each request, the oldest first")


def _add_replicas(parser: argparse.ArgumentParser, help: str) -> None:
    parser.add_argument("--replicas", type=_broker_ids, nargs="+", metavar="ID,ID,...", help=help)


def _servers(text: str) -> str:
    listed, _, _ = text.partition("/")
    if not all(re.fullmatch(r"[^:,\s]+:\d+", server) for server in listed.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT, or a comma-separated list of them")
    return text


Number = TypeVar("Number", int, float)


def _positive(kind: type[Number]) -> Callable[[str], Number]:
    def read(text: str) -> Number:
        try:
            value = kind(text)
        except ValueError:
            value = kind(0)
        if not value > 0:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number greater than 0")
        return value

    return read


def _not_negative(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return int(text)


def _broker_ids(text: str) -> list[int]:
    if not re.fullmatch(r"\d+(,\d+)*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of broker ids like 4,5,6")
    return [int(number) for number in text.split(",")]


def _move(text: str) -> tuple[int, list[int]]:
    index, equals, replicas = text.partition("=")
    if not equals or not index.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not PARTITION=ID,ID,... like 0=5,6,7")
    return int(index), _broker_ids(replicas)


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value
