"""Every story of every document, and which of them are for whom."""

from __future__ import annotations

from collections.abc import Iterable

from suites.faults.stories import STORIES as FAULTS
from suites.internals.stories import STORIES as INTERNALS
from suites.kip_343.stories import STORIES as KIP_343
from suites.kip_631.stories import STORIES as KIP_631
from suites.replica_state_event.stories import STORIES as REPLICA_STATE_EVENT
from suites.replication_v2.stories import STORIES as REPLICATION_V2
from suites.story import Story, TargetFacts


def longest_first(stories: Iterable[Story]) -> tuple[Story, ...]:
    """So that none of them is left running alone at the end."""
    return tuple(sorted(stories, key=lambda story: -story.seconds))


STORIES = longest_first((*KIP_631, *INTERNALS, *KIP_343, *REPLICA_STATE_EVENT, *REPLICATION_V2, *FAULTS))


def told_to(target: TargetFacts, stories: Iterable[Story] = STORIES) -> tuple[Story, ...]:
    """Those whose document describes the target's design, at a level that it has."""
    return tuple(story for story in stories if story.applies(target))
