"""Every story of the suite. One file a family of faults; each exports `STORIES`."""

from suites.faults.stories import clock, containers, disks, identity, late_bytes, links, processes
from suites.story import Story

STORIES: tuple[Story, ...] = (
    *links.STORIES,
    *processes.STORIES,
    *identity.STORIES,
    *late_bytes.STORIES,
    *disks.STORIES,
    *clock.STORIES,
    *containers.STORIES,
)
