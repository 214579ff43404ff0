"""The job of continuous integration that a run is part of, from the environment variables of its system."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class _System:
    """A system of continuous integration. Each field but the first names variables; the first that is set counts."""

    name: str
    shows: str
    """The variable that is set in every job of this system."""
    job: tuple[str, ...]
    branch: tuple[str, ...]
    commit: str
    url: str
    """Template of the address of the job's page."""


SYSTEMS: Final = (
    _System(
        "GitHub Actions",
        "GITHUB_ACTIONS",
        ("GITHUB_JOB",),
        ("GITHUB_HEAD_REF", "GITHUB_REF_NAME"),
        "GITHUB_SHA",
        "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}",
    ),
    _System(
        "GitLab",
        "GITLAB_CI",
        ("CI_JOB_NAME",),
        ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CI_COMMIT_REF_NAME"),
        "CI_COMMIT_SHA",
        "{CI_JOB_URL}",
    ),
    _System(
        "Jenkins",
        "JENKINS_URL",
        ("JOB_NAME",),
        ("CHANGE_BRANCH", "BRANCH_NAME", "GIT_BRANCH"),
        "GIT_COMMIT",
        "{BUILD_URL}",
    ),
    _System(
        "Buildkite",
        "BUILDKITE",
        ("BUILDKITE_LABEL", "BUILDKITE_PIPELINE_SLUG"),
        ("BUILDKITE_BRANCH",),
        "BUILDKITE_COMMIT",
        "{BUILDKITE_BUILD_URL}#{BUILDKITE_JOB_ID}",
    ),
)


def ci_job(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return `system`, `job`, `branch`, `commit` and `url` of the job, as far as they are known; empty outside of CI.

    `commit` is that of the repository whose job this is, which need not be the target's.
    """
    system = next((each for each in SYSTEMS if environment.get(each.shows)), None)
    if system is None:
        return {}
    found = {
        "system": system.name,
        "job": _first(environment, system.job),
        "branch": _first(environment, system.branch),
        "commit": environment.get(system.commit, ""),
        "url": _filled(system.url, environment),
    }
    return {key: value for key, value in found.items() if value}


def _first(environment: Mapping[str, str], variables: tuple[str, ...]) -> str:
    return next((value for name in variables if (value := environment.get(name))), "")


def _filled(template: str, environment: Mapping[str, str]) -> str:
    try:
        return template.format_map(environment)
    except KeyError:
        return ""
