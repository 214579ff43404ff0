"""The topics that the steps of a plan create, change and delete."""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.create_partitions import CreatePartitionsProbe
from fencepost.harness.plan.requests.create_topic import CreateTopicProbe
from fencepost.harness.plan.requests.delete_topic import DeleteTopicProbe
from fencepost.harness.plan.steps.znode import ZnodeStep
from fencepost.harness.plan.znodes import PREFERRED

TOPICS = "/brokers/topics/"
DELETIONS = "/admin/delete_topics/"


def changed_topics(plan: Plan) -> Iterator[str]:
    """Yield the topics that steps create, or give more partitions."""
    for step in plan.steps:
        if isinstance(step, CreateTopicProbe | CreatePartitionsProbe):
            yield step.topic
        if isinstance(step, ApiProbe) and step.api == "create_topics":
            yield from (str(topic.get("name")) for topic in step.body.get("topics") or ())
        if isinstance(step, ZnodeStep) and step.path.startswith(TOPICS):
            yield step.path.removeprefix(TOPICS).partition("/")[0]


def own_topics(plan: Plan) -> frozenset[str]:
    """Return the topics of the plan and of its steps."""
    return frozenset({topic.name for topic in plan.topics} | {*changed_topics(plan)})


def deleted_topics(plan: Plan) -> dict[str, str]:
    """Return the topics that steps delete, each with the name of the last step that does."""
    return {topic: plan.step_name(place) for place, step in enumerate(plan.steps) for topic in _deletes(step)}


def _deletes(step: object) -> Iterator[str]:
    if isinstance(step, DeleteTopicProbe):
        yield step.topic
    if isinstance(step, ZnodeStep) and step.action == "create" and step.path.startswith(DELETIONS):
        yield step.path.removeprefix(DELETIONS)


def writes_znodes(plan: Plan) -> bool:
    """Return whether steps change state by znodes, which the model of requests does not follow."""
    return any(isinstance(step, ZnodeStep) and step.path != PREFERRED for step in plan.steps)
