"""The release that a node runs, by its own log: the measurement of an upgrade."""

from __future__ import annotations

import re

from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.cluster.nodes import ASK_EVERY
from fencepost.harness.engine.errors import StepError
from fencepost.harness.plan.base import Release, release_range
from fencepost.harness.processes.waiting import within
from fencepost.harness.targets.target import Target


def running_release(cluster: Cluster, node: str) -> str | None:
    """Return the release that the node's process has logged since its start, or None if it has not (yet)."""
    says = cluster.target.file.upgrade_rules(cluster.target.version).says
    found = (re.search(says, line) for line in reversed(cluster.processes.said(node)))
    return next((match[1] for match in found if match), None)


def version_of(target: Target, release: Release) -> str:
    """Return the version of the old or the new release of a target. StepError if the target has one release."""
    releases = release_range(target.version)
    if releases is None:
        raise StepError(f"{target.file.name}:{target.version} has one release, so there is no {release} one")
    return releases[release == "new"]


def await_release(cluster: Cluster, node: str, version: str, timeout: float) -> None:
    """Wait until the node's log says that it runs this release. StepError if it does not, or names another one."""
    within(timeout, lambda: running_release(cluster, node) is not None, ASK_EVERY)
    running = running_release(cluster, node)
    if running != version:
        says = f"says {running}" if running else f"has not said which release it runs after {timeout:g} s"
        raise StepError(f"{node} was started with the release {version}, but its log {says}")
