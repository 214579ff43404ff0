"""The conformance suite of KIP-343: heartbeats, incarnations and fencing.

pytest suites/kip_343 --target zk-controller --seed 7 -n 3 --dist worksteal
"""

from __future__ import annotations

from harness.conformance.session import Session
from suites.kip_343.stories import STORIES
from suites.story import Story
from suites.telling import tell

__all__ = ["STORIES"]


def test_story(story: Story, fencepost: Session) -> None:
    tell(story, fencepost)
