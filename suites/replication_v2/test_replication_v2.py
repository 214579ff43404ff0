"""The conformance suite of replication design V2: no controller, every partition's leader its only brain.

pytest suites/replication_v2 --target leader-driven --seed 7 -n 3 --dist worksteal
"""

from __future__ import annotations

from harness.conformance.session import Session
from suites.replication_v2.stories import STORIES
from suites.story import Story
from suites.telling import tell

__all__ = ["STORIES"]


def test_story(story: Story, fencepost: Session) -> None:
    tell(story, fencepost)
