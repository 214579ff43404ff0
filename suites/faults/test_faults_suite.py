"""The suite of faults: one story each of how a cluster can be broken, told to every design that can be broken so.

pytest suites/faults --target quorum --seed 7 -n 3 --dist worksteal
"""

from __future__ import annotations

from harness.conformance.session import Session
from suites.faults.stories import STORIES
from suites.story import Story
from suites.telling import tell

__all__ = ["STORIES"]


def test_story(story: Story, fencepost: Session) -> None:
    tell(story, fencepost)
