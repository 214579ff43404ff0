"""The conformance suite of KIP-631 version 28: every story, told to one target.

pytest suites/kip_631 --target apache-kafka:4.3.1 --seed 7 -n 3 --dist worksteal
"""

from __future__ import annotations

from harness.conformance.session import Session
from suites.kip_631.stories import STORIES
from suites.story import Story
from suites.telling import tell

__all__ = ["STORIES"]


def test_story(story: Story, fencepost: Session) -> None:
    tell(story, fencepost)
