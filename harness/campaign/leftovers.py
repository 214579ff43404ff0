"""Topics that earlier plans left on a cluster that lives on: each plan deletes those of one plan.

So a cluster has the topics of a few plans, however long it lives, and the model judges the deletions.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from fencepost.harness.campaign.operations.mistakes import ILLEGAL_NAMES, METADATA_LOG
from fencepost.harness.campaign.operations.operation import asked
from fencepost.harness.campaign.topics import LONGEST
from fencepost.harness.plan.internal_topics import INTERNAL_TOPICS
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.topic_changes import changed_topics

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

KEPT = 2
"""The topics of a plan are deleted by the one that is this number of plans later."""
NOT_THEIRS = (*INTERNAL_TOPICS, METADATA_LOG)
BY_NAME = 5
"""The last version of DeleteTopics that has a list of names; every target knows it."""


def leftovers(earlier: Sequence[Plan]) -> Sequence[str]:
    """Return the topics that the plan after these deletes. Some may be gone, or have never been."""
    if len(earlier) < KEPT:
        return ()
    plan = earlier[-KEPT]
    names = {*(topic.name for topic in plan.topics), *changed_topics(plan)}
    return sorted(name for name in names.difference(ILLEGAL_NAMES, NOT_THEIRS) if len(name) <= LONGEST)


def deletion(script: Script, topics: Collection[str]) -> Step:
    """Return one request that deletes topics. It claims nothing of its own: what it led to is described."""
    how = asked(script.rng, script, certain=False)
    body = {"topic_names": list(topics), "timeout": how.timeout_ms}
    return how.send(
        ApiProbe(as_=script.name("leftovers"), node=how.node, api="delete_topics", version=BY_NAME, body=body)
    )
