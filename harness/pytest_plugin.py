"""The pytest plugin that the entry point `fencepost` registers.

It gives tests the fixture `fencepost`, and the session the exit status of the worst verdict: 0 pass, 1 violation,
2 infrastructure, 3 inconclusive. A session without stories, or in which other tests failed, keeps pytest's own status.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from results.records.verdict import Verdict

if TYPE_CHECKING:
    from harness.conformance.session import Session

STORY_PROPERTY = "fencepost.story"
VERDICT_PROPERTY = "fencepost.verdict"
"""Properties of a test's report: they travel from an xdist worker to the process that sets the exit status."""


@dataclass
class Results:
    """What the tests of this process reported."""

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    """By story."""
    other_failures: bool = False

    def add(self, report: pytest.TestReport) -> None:
        said: dict[str, Any] = dict(report.user_properties)
        story = said.get(STORY_PROPERTY)
        if story is None:
            self.other_failures |= report.failed
        elif VERDICT_PROPERTY in said:
            verdict = Verdict(said[VERDICT_PROPERTY])
            self.other_failures |= report.failed and verdict is Verdict.PASS  # whatever failed, it was not the story
            self._add(story, verdict)
        elif report.failed:
            self._add(story, Verdict.INFRASTRUCTURE)

    def _add(self, story: str, verdict: Verdict) -> None:
        """A story may be told twice."""
        self.verdicts[story] = Verdict.worst([verdict, self.verdicts.get(story, verdict)])

    def exit_status(self, own: int) -> int:
        """`own` is what pytest would say: only its plain "passed" and "tests failed" give way to a verdict."""
        if not self.verdicts or self.other_failures or own not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return own
        return Verdict.worst(self.verdicts.values()).exit_code


_results = pytest.StashKey[Results]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("fencepost")
    group.addoption(
        "--target",
        default="quorum",
        help="what to run against: quorum, zk-controller, leader-driven, apache-kafka:3.9.1, apache-kafka-zk",
    )
    group.addoption("--seed", type=int, default=1, help="what plans draw from")
    group.addoption("--runs", type=Path, default=Path("runs"), help="where run folders go")
    group.addoption("--backend", default="process", help="how nodes are run: process or docker")


def pytest_configure(config: pytest.Config) -> None:
    results = Results()
    config.stash[_results] = results
    config.pluginmanager.register(_Listener(results), "fencepost-results")


class _Listener:
    def __init__(self, results: Results) -> None:
        self._results = results

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._results.add(report)


@pytest.fixture
def fencepost(request: pytest.FixtureRequest) -> Session:
    """Runs the plan of a story and turns its verdict into the test's."""
    from harness.conformance.session import Session, Settings

    option = request.config.getoption
    settings = Settings(option("--target"), option("--seed"), option("--runs"), option("--backend"))
    return Session(settings, request.node.user_properties)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Announce the stories in their order. Every xdist worker collects all of them, so the first one does it."""
    if os.environ.get("PYTEST_XDIST_WORKER", "gw0") != "gw0" or session.config.option.collectonly:
        return
    from harness.conformance.progress import Phase, Progress

    for item in session.items:
        story = item.callspec.params.get("story") if hasattr(item, "callspec") else None
        if story is not None and "fencepost" in getattr(item, "fixturenames", ()):
            marker = item.get_closest_marker("requirement")
            requirements = marker.args if marker is not None else story.requirements
            Progress.from_environment(story.slug, story.title, requirements).tell(Phase.QUEUED)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    session.exitstatus = session.config.stash[_results].exit_status(exitstatus)
