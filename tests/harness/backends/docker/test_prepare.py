"""The images that a cluster needs are known before anything starts."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any, cast

from fencepost.harness.backends.docker.commands import images_of
from fencepost.harness.processes.command import Command
from fencepost.harness.targets.registry import load_file
from fencepost.harness.targets.target import Target
from fencepost.harness.targets.upgrade import UpgradedTarget


def _driver(version: str) -> Target:
    def command(*_: Any) -> Command:
        return Command(["serve"], image=f"acme:{version}")

    return cast("Target", SimpleNamespace(version=version, ids=None, command=command))


def test_an_upgrade_needs_the_images_of_both_releases_before_the_first_node_starts() -> None:
    """Else the image of the new release is built in the middle of a run, while a node is away."""
    target = UpgradedTarget(load_file("apache-kafka"), "3.9.1..4.3.1", _driver("3.9.1"), _driver("4.3.1"))
    assert [image.title for image in images_of(target)[1:]] == ["acme:3.9.1", "acme:4.3.1"]


def test_a_single_release_needs_one_image_beside_that_of_the_pods() -> None:
    target = cast("Any", _driver("4.3.1"))
    target.file = load_file("apache-kafka")
    assert [image.title for image in images_of(target)[1:]] == ["acme:4.3.1"]


def test_a_target_that_is_not_known_is_named_before_anything_is_built() -> None:
    command = [sys.executable, "-m", "fencepost.harness.backends.docker.build", "nosuch"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("fencepost: there is no target 'nosuch'")
