"""The conformance suite of ReplicaStateEvent (KIP-589 version 7): failing log dirs.

pytest suites/replica_state_event --target zk-controller --seed 7 -n 3 --dist worksteal
"""

from __future__ import annotations

from harness.conformance.session import Session
from suites.replica_state_event.stories import STORIES
from suites.story import Story
from suites.telling import tell

__all__ = ["STORIES"]


def test_story(story: Story, fencepost: Session) -> None:
    tell(story, fencepost)
