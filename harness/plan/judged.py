"""The claims of a plan: what its steps judge, and the requirements that every run is judged by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.model import Plan, WorkloadSpec

JUDGED_IN_EVERY_RUN = (
    *(f"ACK-0{number}" for number in range(1, 9)),
    *(f"ISR-0{number}" for number in range(1, 4)),
    "HW-01",
    "HW-03",
    *(f"SEG-0{number}" for number in range(1, 6)),
    "TOPIC-02",
    "TOPIC-03",
    "TOPIC-04",
    "LEAD-01",
    "CTRL-01",
    "CTRL-02",
    "CTRL-03",
    "CTRL-04",
    "LIVE-07",
)
"""Judged in every run. `every_run` leaves out those that need a controller where there is none."""
BROKEN_BY_LOSS = ("ACK-02", "ACK-04", "ACK-06", "ACK-07", "HW-01", "HW-03", "SEG-01", "SEG-02")
"""Requirements besides ACK-01 that a lost record may break: the end of the partition goes back, the record's offset is
given to another one, and consumers that saw it do not see it again."""
JUDGED_WITH_ZOOKEEPER = ("INT-01", "INT-64", "DINT-04")
"""Judged in every run on a design whose controllers are elected in ZooKeeper, besides those of every run."""


JUDGED_WITH_TRANSACTIONS = tuple(f"TXN-0{number}" for number in range(1, 5))
"""Judged in every run of a plan with transactional producers."""
JUDGED_WITH_GROUPS = ("GRP-01", "GRP-02")
"""Judged in every run of a plan with consumer groups."""


def every_workload(workload: WorkloadSpec) -> tuple[str, ...]:
    """Return the requirements that every run with this workload is judged by, beside those of every run."""
    transactions = any(producer.transactions for producer in workload.producers)
    groups = any(consumer.membership for consumer in workload.consumers)
    groups |= any(producer.transactions and producer.transactions.group for producer in workload.producers)
    return (*(JUDGED_WITH_TRANSACTIONS if transactions else ()), *(JUDGED_WITH_GROUPS if groups else ()))


def every_run(dialect: Dialect) -> tuple[str, ...]:
    """Return the requirements that every run on a design is judged by."""
    return tuple(each for each in JUDGED_IN_EVERY_RUN if dialect.has_controllers or not each.startswith("CTRL-"))


@dataclass(frozen=True)
class Claim:
    """A requirement that a step judges, or that the whole run is listed to break (`step` is None).

    `level` is must, may or never. `outcome` is that of the step's answers, or None for the condition that it awaits.
    `difference` is the listed difference that the claim follows in place of the document.
    """

    requirement: str
    step: str | None
    level: str
    outcome: str | None = None
    difference: str | None = None

    @property
    def is_judged(self) -> bool:
        """Return whether a run judges it: a deviation that may show only says what a checker's violation counts as."""
        return self.step is not None or self.level != "may"


def claims(plan: Plan) -> Iterator[Claim]:
    """Yield each requirement of each expectation of the plan, and those of its deviations."""
    for place, step in enumerate(plan.steps):
        expect = getattr(step, "expect", None)
        if expect is not None:
            outcome = getattr(expect, "outcome", None)
            for each in (expect.requirement, *expect.also):
                yield Claim(each, plan.step_name(place), expect.level.value, outcome, expect.difference)
    for deviation in plan.deviations:
        yield Claim(deviation.requirement, None, deviation.level, difference=deviation.difference)


def judged_requirements(plan: Plan, dialect: Dialect) -> frozenset[str]:
    """Return the ids that something in a run of the plan judges: a step, a deviation, or a checker of every run.

    All other ids that the plan names are *not exercised* in its verdict.
    """
    always = {*every_run(dialect), *every_workload(plan.workload)}
    if dialect.has_controllers and dialect.uses_zookeeper:
        always |= set(JUDGED_WITH_ZOOKEEPER)
    return frozenset(always | {claim.requirement for claim in claims(plan) if claim.is_judged})
