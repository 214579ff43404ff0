"""pytest sees of the suites what is for the target, the longest first, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from suites.stories import told_to
from suites.story import TargetFacts

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("target", ["quorum", "zk-controller", "leader-driven"])
def test_the_stories_for_a_target_are_collected_the_longest_first(target: str) -> None:
    asked = [
        sys.executable,
        "-m",
        "pytest",
        "suites",
        "--target",
        target,
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
    ]
    said = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True).stdout
    collected = [line.partition("[")[2].rstrip("]") for line in said.splitlines() if "::test_story[" in line]
    stories = {story.slug: story.seconds for story in told_to(TargetFacts.of(target))}
    assert sorted(collected) == sorted(stories)
    assert [stories[slug] for slug in collected] == sorted(stories.values(), reverse=True)
