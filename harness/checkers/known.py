"""All names of checks that a finding can carry, each with its rule or, if it judges none, with a text."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from fencepost.harness.checkers.aborted_read import CHECK as ABORTED_READ
from fencepost.harness.checkers.assignments import REPLICAS_AS_ASKED
from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.consumer_order import BACK, SKIP
from fencepost.harness.checkers.convergence import WHOLE
from fencepost.harness.checkers.duplicate import CHECK as DUPLICATE
from fencepost.harness.checkers.exits import EXITS
from fencepost.harness.checkers.fatal_requests import CHECK as FATAL_REQUEST
from fencepost.harness.checkers.group_offsets import KEPT as GROUP_OFFSETS
from fencepost.harness.checkers.group_offsets import OWNED
from fencepost.harness.checkers.inconsistent_offsets import CHECK as INCONSISTENT_OFFSETS
from fencepost.harness.checkers.leadership import (
    EPOCHS_GROW,
    LAWFUL_ISR,
    ONE_CONTROLLER,
    ONE_CONTROLLER_IN_ZOOKEEPER,
    ONE_LEADER,
)
from fencepost.harness.checkers.log_files import CHECKPOINTS, EPOCHS, TAILS
from fencepost.harness.checkers.lost_write import CHECK as LOST_WRITE
from fencepost.harness.checkers.nonmonotonic_send import CHECK as NONMONOTONIC_SEND
from fencepost.harness.checkers.phantom import CHECK as PHANTOM
from fencepost.harness.checkers.refused_retry import CHECK as REFUSED_RETRY
from fencepost.harness.checkers.replicas import AGREE, KEPT, ONE_CONTENT
from fencepost.harness.checkers.returned import CHECK as RETURNED
from fencepost.harness.checkers.silent_nodes import SILENT
from fencepost.harness.checkers.stability import BROKERS_STAY, CONTROLLER_STAYS, LEADERS_STAY
from fencepost.harness.checkers.topics_at_end import AS_ASKED, STAY
from fencepost.harness.checkers.transactions import ABORTED, ATOMIC, FENCED, STABLE
from fencepost.harness.checkers.unseen import CHECK as UNSEEN
from fencepost.harness.checkers.unseen import TO_THE_END as UNREAD
from fencepost.harness.checkers.vanished import CHECK as VANISHED
from fencepost.harness.checkers.visible_end import CHECK as VISIBLE_END
from fencepost.harness.checkers.workload_done import COMMITTED, GROUPED, PRODUCED
from fencepost.harness.checkers.zookeeper import ELECTIONS, WRITES

CHECKS: Final[tuple[Check, ...]] = (
    UNSEEN,
    UNREAD,
    LOST_WRITE,
    VANISHED,
    INCONSISTENT_OFFSETS,
    DUPLICATE,
    ABORTED_READ,
    PHANTOM,
    NONMONOTONIC_SEND,
    BACK,
    SKIP,
    RETURNED,
    STAY,
    AS_ASKED,
    REPLICAS_AS_ASKED,
    VISIBLE_END,
    KEPT,
    ONE_CONTENT,
    AGREE,
    EPOCHS,
    CHECKPOINTS,
    TAILS,
    ONE_LEADER,
    EPOCHS_GROW,
    LAWFUL_ISR,
    ONE_CONTROLLER,
    ONE_CONTROLLER_IN_ZOOKEEPER,
    LEADERS_STAY,
    BROKERS_STAY,
    CONTROLLER_STAYS,
    FATAL_REQUEST,
    ELECTIONS,
    WRITES,
    ATOMIC,
    ABORTED,
    STABLE,
    FENCED,
    GROUP_OFFSETS,
    OWNED,
    REFUSED_RETRY,
    EXITS,
    SILENT,
    WHOLE,
    PRODUCED,
    COMMITTED,
    GROUPED,
)
"""The checkers of the whole run. A name may stand twice, with another requirement on another design."""

OF_THE_RUN: Final[Mapping[str, str]] = {
    "expectations": "A step of the plan claims a requirement: its answers, or the condition it awaits, are judged.",
    "stale-metadata": "The age of the brokers' metadata is measured and reported; no rule bounds it.",
    "deviation": "A difference that the target's file lists must show, or the list is out of date.",
    "coverage": "The run did what its plan needs, such as records acknowledged after a fault. Else it shows nothing.",
    "scenario": "Every step of the plan was done. Else the run is inconclusive.",
    "faults": "Every fault was proven to take effect, and proven healed. Else the run is inconclusive.",
    "nodes": "No node ended by itself over a fault or over the machine. Else the run is infrastructure.",
    "unsupported": "The target supports the requests of the plan's workload. Else the run is inconclusive.",
    "clients": "No client of the workload ended by an error that the plan does not expect.",
    "journal": "No line of the journal is damaged. Else the run is infrastructure.",
    "unfinished": "The run reached its end. Else it is infrastructure.",
    "overrun": "The run was over in its time. Else it is infrastructure, and what showed before stands.",
    "hangs": "Each call into a client library returned. Else the run is infrastructure, and what showed before stands.",
    "harness": "The harness and its machinery did not fail. Else the run is infrastructure.",
}
"""The checks that judge no requirement of their own, by name."""


def checks_of(requirement: str, checks: Iterable[Check] = CHECKS) -> Iterator[Check]:
    """Yield the checkers of the whole run that judge a requirement."""
    yield from (check for check in checks if requirement in (check.requirement, *check.also))
