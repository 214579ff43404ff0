"""The second time: an operation once more, after its own failover, restart or refusal.

A second change meets what the first one left: in the memory of a controller that has just become active, of a broker
that has just started, or of those that refused the same request a moment ago.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from fencepost.harness.campaign.features import Move
from fencepost.harness.campaign.settling import broker_restarted, controller_restarted
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.create_partitions import CreatePartitionsProbe
from fencepost.harness.plan.requests.create_topic import CreateTopicProbe
from fencepost.harness.plan.requests.delete_topic import DeleteTopicProbe
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.plan.steps import Step

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

AFTER = {"failover": 3, "restart": 2, "refusal": 3}
"""The events between the first time and the second, with their frequencies."""
REPEATABLE = (CreateTopicProbe, DeleteTopicProbe, CreatePartitionsProbe)
REPEATABLE_APIS = frozenset(
    {
        "add_raft_voter",
        "alter_client_quotas",
        "alter_configs",
        "alter_user_scram_credentials",
        "create_acls",
        "create_partitions",
        "create_topics",
        "delete_acls",
        "delete_topics",
        "incremental_alter_configs",
        "remove_raft_voter",
        "update_features",
    }
)
"""Requests of administrators that are refused a second time, or change nothing then."""


def again(script: Script, move: Move, first: Sequence[Step]) -> str | None:
    """Add an operation of the same kind as the one with the steps `first`; return its title."""
    after = script.rng.choices(list(AFTER), weights=list(AFTER.values()))[0]
    repeated = list(_repeated(script, first)) if after == "refusal" else []
    if repeated:
        script.steps += repeated
        return move.add(script)
    if after == "restart" or not script.cluster.target.dialect.has_controllers:
        script.steps += broker_restarted(script, script.rng.choice(script.cluster.brokers))
    else:
        script.steps += controller_restarted(script)
    script.await_whole()
    return move.add(script)


def _repeated(script: Script, first: Sequence[Step]) -> Iterator[ProbeStep]:
    """Yield the last request once more. It claims nothing: the model of the state knows what it may have done."""
    for step in reversed(first):
        if isinstance(step, REPEATABLE) or (isinstance(step, ApiProbe) and step.api in REPEATABLE_APIS):
            without: dict[str, Any] = {"expect": None}
            if isinstance(step, ApiProbe):
                without |= {"answer": {}, "binds": {}, "within_ms": 0}
            if step.repeat == 1 and not step.background:
                yield step.model_copy(update={"as_": script.name("repeated"), **without})
            return
