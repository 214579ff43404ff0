"""The second time: an operation once more, after its own failover, restart or refusal; or its last request alone.

A second change meets what the first one left: in the memory of a controller that has just become active, of a broker
that has just started, of a cluster that has read all from its disks, or of those that refused the same request a moment
ago. What takes a change back, or makes anew what it removed, meets the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fencepost.harness.campaign.features import Move
from fencepost.harness.campaign.settling import all_restarted, broker_restarted, controller_restarted
from fencepost.harness.plan.answers import ProbeOutcome
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.create_partitions import CreatePartitionsProbe
from fencepost.harness.plan.requests.create_topic import CreateTopicProbe
from fencepost.harness.plan.requests.delete_topic import DeleteTopicProbe
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.plan.steps import Step

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

AFTER = {"failover": 3, "restart": 2, "all restarted": 1, "refusal": 3}
"""The events between the first time and the second, with their frequencies."""
IN_BETWEEN = {"failover": 2, "restart": 1, "all restarted": 2}
"""The events between two requests of one operation, with their frequencies."""
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
    after = _chosen(script, AFTER)
    if after == "refusal" and (repeated := list(_repeated(script, first))):
        script.steps += repeated
    else:
        _happens(script, after)
    return move.add(script)


def interrupt(script: Script, begin: int) -> None:
    """Let something happen before the last request of an operation, whose steps begin at the place `begin`.

    It needs two requests that are to be served; between mistakes there is nothing to lose.
    """
    places = [place for place in range(begin, len(script.steps)) if _changes(script.steps[place])]
    if len(places) < 2:
        return
    rest = script.steps[places[-1] :]
    del script.steps[places[-1] :]
    _happens(script, _chosen(script, IN_BETWEEN))
    script.steps += rest


def _chosen(script: Script, frequencies: Mapping[str, int]) -> str:
    return script.rng.choices(list(frequencies), weights=list(frequencies.values()))[0]


def _happens(script: Script, event: str) -> None:
    """Add the event, and the wait until the cluster is whole again. Without a controller a broker restarts."""
    if not script.cluster.outlives_restarts:
        return
    if event == "all restarted":
        script.steps += all_restarted(script)
    elif event == "restart" or not script.cluster.target.dialect.has_controllers:
        script.steps += broker_restarted(script, script.rng.choice(script.cluster.brokers))
    else:
        script.steps += controller_restarted(script)
    script.await_whole()


def _changes(step: Step) -> bool:
    if not isinstance(step, ProbeStep) or not _is_repeatable(step) or step.expect is None:
        return False
    return step.expect.outcome == ProbeOutcome.SERVED


def _is_repeatable(step: Step) -> bool:
    return isinstance(step, REPEATABLE) or (isinstance(step, ApiProbe) and step.api in REPEATABLE_APIS)


def _repeated(script: Script, first: Sequence[Step]) -> Iterator[ProbeStep]:
    """Yield the last request once more. It claims nothing: the model of the state knows what it may have done."""
    for step in reversed(first):
        if isinstance(step, ProbeStep) and _is_repeatable(step):
            without: dict[str, Any] = {"expect": None}
            if isinstance(step, ApiProbe):
                without |= {"answer": {}, "binds": {}, "within_ms": 0}
            if step.repeat == 1 and not step.background:
                yield step.model_copy(update={"as_": script.name("repeated"), **without})
            return
