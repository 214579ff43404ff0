"""The conformance suite of Kafka internals (2017): the controller in ZooKeeper.

pytest suites/internals --target apache-kafka-zk --seed 7 -n 3 --dist worksteal
"""

from __future__ import annotations

from harness.conformance.session import Session
from suites.internals.stories import STORIES
from suites.story import Story
from suites.telling import tell

__all__ = ["STORIES"]


def test_story(story: Story, fencepost: Session) -> None:
    tell(story, fencepost)
