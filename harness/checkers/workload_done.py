"""Did the clients of the plan do what they are there for? Else nothing is known of the rules about it.

A workload is *done* over at least one acknowledged record at acks=all, one committed transaction, and one committed
offset of a group: of each kind that the plan has. A request of the workload that the target does not support leaves the
run inconclusive, too: the target's file says which workloads it takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fencepost.harness.checkers.check import Check, RunCheck
from fencepost.harness.checkers.checker import checker
from fencepost.harness.checkers.history import History
from fencepost.harness.plan.model import Plan
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Basis, Finding, Verdict

PRODUCED: Final = Check("produced", "No record was acknowledged", "ACK-01", Basis.ABSENCE)
COMMITTED: Final = Check("committed", "No transaction was committed", "TXN-01", Basis.ABSENCE, also=("TXN-03",))
GROUPED: Final = Check("grouped", "No offset of a group was committed", "GRP-01", Basis.ABSENCE)
UNSUPPORTED: Final = RunCheck(
    "unsupported", "The target supports the requests of the plan's workload. Else the run is inconclusive."
)
_UNSUPPORTED: Final = frozenset({"_UNSUPPORTED_FEATURE", "UNSUPPORTED_VERSION"})


@checker(PRODUCED, COMMITTED, GROUPED, UNSUPPORTED, rank=96, coverage=True)
def workload_done(plan: Plan, journal: Journal, history: History) -> Iterator[Finding]:
    """Yield a finding for each kind of client that the plan has, and for each request that is not supported. Linear."""
    producers, consumers = plan.workload.producers, plan.workload.consumers
    sending = [each.name for each in producers if each.acks == "all"]
    transactional = [each.name for each in producers if each.transactions]
    members = [each.name for each in consumers if each.membership]
    members += [each.name for each in producers if each.transactions and each.transactions.group]
    done = (
        (PRODUCED, sending, len(history.promises), "record", "acknowledged at acks=all"),
        (COMMITTED, transactional, len(history.transactions.committed), "transaction", "committed"),
        (GROUPED, members, len(history.groups.acknowledged), "offset of a group", "committed"),
    )
    for check, names, number, what, how in done:
        if names and number:
            # Nothing is judged by this alone: it is what the rules are judged over.
            yield check.held(0, f"{number} times a {what} was {how}.", done=number)
        elif names:
            yield check.unjudged(f"No {what} of {', '.join(names)} was {how}, so no promise can be judged.")
    yield from _unsupported(journal)


def _unsupported(journal: Journal) -> Iterator[Finding]:
    reported: set[tuple[str, str]] = set()
    for event in journal.of("op", "fail", "info"):
        client, request = str(event.data.get("process")), str(event.data.get("f"))
        if event.data.get("error") in _UNSUPPORTED and request != "probe" and (client, request) not in reported:
            reported.add((client, request))
            yield Finding(
                verdict=Verdict.INCONCLUSIVE,
                check=UNSUPPORTED.name,
                title="A request of the workload is not supported",
                message=(
                    f"The target does not support {request} of {client} ({event.data['error']}): drop this workload "
                    "from the plan, or from `workloads` of the target's file."
                ),
                at=event.t,
            )
