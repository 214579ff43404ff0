"""The rules that every run is judged by, and those that a lost record breaks: as the checkers say."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from fencepost.harness.catalogue import catalogue
from fencepost.harness.catalogue.model import RequirementKind
from fencepost.harness.checkers.checker import Need
from fencepost.harness.checkers.registry import checkers
from fencepost.harness.plan.claims import claims
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.model import Plan, WorkloadSpec

_PREFIXES = ("ACK", "ISR", "HW", "SEG", "TOPIC", "LEAD", "CTRL", "LIVE", "TXN", "GRP")
"""The order in which plans list rules, which their hashes keep. Other prefixes follow."""
_OF_WORKLOADS = frozenset({Need.TRANSACTIONS, Need.GROUPS})


@functools.cache
def every_run(dialect: Dialect | None = None) -> tuple[str, ...]:
    """Return the guarantees that every run on a design is judged by; without `dialect` those of any design.

    Rules of documents are not among them: the scenarios of a document list these.
    """
    return tuple(each for each in _owed(dialect, frozenset()) if _is_guarantee(each))


def every_workload(workload: WorkloadSpec) -> tuple[str, ...]:
    """Return the rules that every run with this workload is judged by, beside those of every run."""
    needs = _needs(workload)
    return tuple(each for each in _owed(None, needs) if each not in _owed(None, frozenset()))


@functools.cache
def broken_by_loss() -> tuple[str, ...]:
    """Return the rules besides ACK-01 that a lost record may break.

    The end of the partition goes back, the record's offset is given to another one, and consumers that saw it do not
    see it again.
    """
    return _in_order(rule for each in checkers() if each.loss for rule in each.requirements if rule != "ACK-01")


def judged_requirements(plan: Plan, dialect: Dialect) -> frozenset[str]:
    """Return the ids that something in a run of the plan judges: a step, a deviation, or a checker of every run.

    All other ids that the plan names are *not exercised* in its verdict.
    """
    claimed = {claim.requirement for claim in claims(plan) if claim.is_judged}
    return frozenset(claimed.union(_owed(dialect, _needs(plan.workload))))


@functools.cache
def _owed(dialect: Dialect | None, workload: frozenset[Need]) -> tuple[str, ...]:
    needs = workload | (frozenset(Need) - _OF_WORKLOADS if dialect is None else _of_dialect(dialect))
    return _in_order(
        rule for each in checkers() if each.every_run and each.needs <= needs for rule in each.requirements
    )


def _of_dialect(dialect: Dialect) -> frozenset[Need]:
    needs = {Need.FENCING, Need.REPLICAS}
    if dialect.shows_decisions:
        needs |= {Need.LOGS, Need.DECISIONS}
    if dialect.has_controllers:
        needs |= {Need.CONTROLLERS, Need.ZOOKEEPER if dialect.uses_zookeeper else Need.QUORUM}
    return frozenset(needs)


def _needs(workload: WorkloadSpec) -> frozenset[Need]:
    """Return what a workload has of that which checkers need."""
    transactions = [producer.transactions for producer in workload.producers if producer.transactions]
    groups = any(consumer.membership for consumer in workload.consumers) or any(each.group for each in transactions)
    needs = {Need.TRANSACTIONS: bool(transactions), Need.GROUPS: groups}
    return frozenset(need for need, has in needs.items() if has)


def _is_guarantee(rule: str) -> bool:
    return catalogue()[rule].kind is RequirementKind.GUARANTEE


def _in_order(rules: Iterable[str]) -> tuple[str, ...]:
    def place(rule: str) -> tuple[int, str]:
        prefix = rule.rpartition("-")[0]
        return _PREFIXES.index(prefix) if prefix in _PREFIXES else len(_PREFIXES), rule

    return tuple(sorted(set(rules), key=place))
