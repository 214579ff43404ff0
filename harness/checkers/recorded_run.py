"""A recorded run as checkers see it: its plan, its journal, the files that its nodes left, and what these tell.

Each part is read once, when the first checker asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from fencepost.harness.checkers.checker import Checker, Need
from fencepost.harness.checkers.control import ControlHistory, TopicPartition, read_control
from fencepost.harness.checkers.deleted_records import deleted_before
from fencepost.harness.checkers.history import History, read_history
from fencepost.harness.checkers.mechanisms import AffectedRange, history_without, replicas_without
from fencepost.harness.checkers.phantom import topics_of_known_senders
from fencepost.harness.checkers.record_table import RecordTable
from fencepost.harness.checkers.replica_logs import NO_REPLICAS, Replicas, missing_logs, read_replicas
from fencepost.harness.checkers.replicas import ReplicaComparison, compare_replicas
from fencepost.harness.checkers.stability import Stability
from fencepost.harness.checkers.topic_lives import Deletion, read_deletions, split_lives
from fencepost.harness.checkers.topic_requests import TopicRequest, topic_requests
from fencepost.harness.checkers.topics_at_end import TopicsAtEnd, read_topics
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.promises import Promises
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Finding


@dataclass(frozen=True)
class RecordedRun:
    """The evidence of one run. `nodes` is the folder of the nodes' own folders; without it no logs are judged."""

    plan: Plan
    journal: Journal
    nodes: Path | None
    dialect: Dialect
    broker_settings: Mapping[str, str] = field(default_factory=dict)
    """Those of the target for all brokers."""
    pre_vote: bool = True
    """Without it, a voter that was away deposes the controller when it comes back (KIP-996)."""
    promises: Promises = field(default_factory=Promises)
    log_files: bool = True
    """The nodes write segment files as Apache Kafka does."""
    affected: Sequence[AffectedRange] = ()
    """The records that are left out of the histories, since a known mechanism can have lost them."""

    def judged_by(self, checker: Checker[Any, Any]) -> list[Finding]:
        """Return the findings of a checker; none if the run lacks what it needs."""
        if not all(map(self.has, checker.needs)):
            return []
        found = checker.function(**{name: getattr(self, name) for name in checker.reads})
        return [found] if isinstance(found, Finding) else list(cast("Iterable[Finding]", found))

    def has(self, need: Need) -> bool:
        """Return whether the run has what a checker may need."""
        match need:
            case Need.CONTROLLERS:
                return self.dialect.has_controllers
            case Need.QUORUM:
                return self.dialect.has_controllers and not self.dialect.uses_zookeeper
            case Need.ZOOKEEPER:
                return self.dialect.has_controllers and self.dialect.uses_zookeeper
            case Need.DECISIONS:
                return self.dialect.shows_decisions
            case Need.FENCING:
                return self.promises.fencing
            case Need.REPLICAS:
                return self.promises.replication == "isr"
            case Need.TRANSACTIONS:
                return bool(self.history.transactions.sessions)
            case Need.GROUPS:
                return bool(self.history.groups.commits)
            case Need.RECREATED_TOPIC:
                return bool(self.history.recreated)
            case Need.LOGS:
                return self.nodes is not None and self.dialect.shows_decisions and self.log_files

    @cached_property
    def assigned(self) -> Mapping[TopicPartition, tuple[int, ...]]:
        """Return the replicas that the plan gives each partition."""
        return {
            (topic.name, number): replicas
            for topic in self.plan.topics
            for number, replicas in enumerate(topic.assignments)
        }

    @cached_property
    def control(self) -> ControlHistory:
        return read_control(self.journal)

    @cached_property
    def stability(self) -> Stability:
        return Stability(self.plan, self.dialect, self.journal, self.control, pre_vote=self.pre_vote)

    @cached_property
    def topic_requests(self) -> Sequence[TopicRequest]:
        return tuple(topic_requests(self.plan, self.journal))

    @cached_property
    def deletions(self) -> Mapping[str, Sequence[Deletion]]:
        return read_deletions(self.topic_requests, self.journal)

    @cached_property
    def topics(self) -> TopicsAtEnd:
        """Return the topics at the end; none of a shared cluster, where other clients may change any."""
        if self.plan.shared:
            return TopicsAtEnd()
        return read_topics(self.plan, self.journal, self.topic_requests, self.deletions)

    @cached_property
    def replicas(self) -> Replicas:
        return NO_REPLICAS if self.nodes is None else read_replicas(self.plan, self.nodes)

    @cached_property
    def missing_logs(self) -> Sequence[str]:
        """Return the brokers whose folders are gone."""
        return [] if self.nodes is None else list(missing_logs(self.plan, self.journal, self.nodes))

    @cached_property
    def client_history(self) -> History:
        """Return what the clients did and saw, under the names of topics that they used."""
        return read_history(self.journal, self.control)

    @cached_property
    def history(self) -> History:
        """Return the history by which records are judged: each life of a topic for itself."""
        history = split_lives(self.client_history, self.deletions)
        return replace(
            history,
            deleted_before=deleted_before(self.plan, self.journal, history, self.broker_settings),
            vanished=self.topics.vanished,
            known_senders=topics_of_known_senders(self.plan),
            session=self.replicas.session,
        )

    @cached_property
    def deleted_values(self) -> frozenset[str]:
        """Return the acknowledged records that the plan had deleted, with their topics or from the start of a log."""
        history = self.history
        left = {
            each.value for each in history.promises if each.at not in history.ended and not history.was_deleted(each)
        }
        return frozenset(each.value for each in self.client_history.promises) - left

    @cached_property
    def comparison(self) -> ReplicaComparison:
        return ReplicaComparison() if self.nodes is None else compare_replicas(self.history, self.replicas)

    @cached_property
    def table(self) -> RecordTable:
        return RecordTable(self.history, self.replicas)

    def without(self, affected: Sequence[AffectedRange]) -> RecordedRun:
        """Return the run without these records."""
        return _ReducedRun(self.plan, self.journal, self.nodes, self.dialect, affected=affected, whole=self)


@dataclass(frozen=True, kw_only=True)
class _ReducedRun(RecordedRun):
    whole: RecordedRun

    @cached_property
    def deletions(self) -> Mapping[str, Sequence[Deletion]]:
        return self.whole.deletions

    @cached_property
    def replicas(self) -> Replicas:
        return replicas_without(self.whole.replicas, self.whole.history, self.affected)

    @cached_property
    def history(self) -> History:
        return replace(history_without(self.whole.history, self.affected), session=self.replicas.session)
