"""Every story of the suite. One file a theme; each exports `STORIES`."""

from suites.replication_v2.stories import (
    administration,
    away,
    claims,
    ensemble,
    followers,
    interrupted,
    kip_101,
    leaders,
    reaching,
    requests,
    watches,
)
from suites.story import Story

STORIES: tuple[Story, ...] = (
    *leaders.STORIES,
    *reaching.STORIES,
    *followers.STORIES,
    *away.STORIES,
    *interrupted.STORIES,
    *requests.STORIES,
    *claims.STORIES,
    *ensemble.STORIES,
    *administration.STORIES,
    *watches.STORIES,
    *kip_101.STORIES,
)
