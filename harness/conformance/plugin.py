"""The pytest plugin that the entry point `fencepost` registers.

Its fixture `fencepost` runs the scenarios of the suites; the fixtures in `fixtures.py` give a test a cluster of its
own. The session has the exit status of the worst verdict: 0 pass, 1 violation, 2 infrastructure, 3 inconclusive. A
session without a run, or in which other tests failed, keeps pytest's own status.

The plugin is loaded in every pytest session of its environment. Everything that costs time to import is imported by
the first fixture that needs it.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fencepost.harness.conformance.options import SessionOptions, add_options
from fencepost.harness.conformance.outcome import NotPassed
from fencepost.harness.conformance.results import (
    NOT_EXERCISED_PROPERTY,
    REPORT_PROPERTY,
    VERDICT_PROPERTY,
    Results,
    verdict_of,
)
from fencepost.results.records.progress import Phase, Progress
from fencepost.results.records.verdict import Verdict

if TYPE_CHECKING:
    from fencepost.harness.conformance.session import Session

pytest_plugins = ("fencepost.harness.conformance.fixtures",)

_results = pytest.StashKey[Results]()


MARKERS = (
    "requirement(*ids): the ids of the requirements that a test proves",
    "fencepost(*, partitions, min_isr, rate, needs, duplicate, lease_ms, seconds, seed, title): the cluster that "
    "fencepost_cluster starts for a test; docs/pytest.md explains each",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    _check_shard(config)
    _quarantined(config)
    results = Results()
    config.stash[_results] = results
    config.pluginmanager.register(_Listener(results), "fencepost-results")


class _Listener:
    def __init__(self, results: Results) -> None:
        self._results = results

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._results.add(report)

    def pytest_report_teststatus(self, report: pytest.CollectReport | pytest.TestReport) -> tuple[str, str, str] | None:
        """Show a run that says nothing about the target as an error, as JUnit does, and not as a failure."""
        if not isinstance(report, pytest.TestReport) or report.when != "call" or not report.failed:
            return None
        verdict = verdict_of(report)
        if verdict not in (Verdict.INFRASTRUCTURE, Verdict.INCONCLUSIVE):
            return None
        return "error", "E", verdict.value.upper()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """List the runs with their verdicts and reports."""
        if not self._results.runs:
            return
        terminalreporter.section("fencepost")
        for test, run in self._results.runs.items():
            terminalreporter.write_line(f"{run[VERDICT_PROPERTY]:<15}{test}")
            if REPORT_PROPERTY in run:
                terminalreporter.write_line(f"{'':<15}{run[REPORT_PROPERTY]}")
            if idle := run.get(NOT_EXERCISED_PROPERTY):
                terminalreporter.write_line(f"{'':<15}named by the scenario, and not exercised: {idle}")


@pytest.fixture
def fencepost(request: pytest.FixtureRequest) -> Session:
    """Run the plan of a scenario and turn its verdict into the outcome of the test."""
    from fencepost.harness.conformance.session import Session

    return Session(SessionOptions.of(request.config), request.node.user_properties)


def _scenario_of(item: pytest.Item) -> Any:
    """Return the scenario that a test runs, or None for any other test."""
    call = getattr(item, "callspec", None)
    return (
        call.params.get("scenario") if call is not None and "fencepost" in getattr(item, "fixturenames", ()) else None
    )


def _check_shard(config: pytest.Config) -> None:
    """Refuse a wrong shard before the workers of xdist would crash over it."""
    options = SessionOptions.of(config)
    if options.shard is None and options.durations is None:
        return
    # Sessions without a shard do not need the results of suites.
    from fencepost.harness.conformance.shards import check
    from fencepost.harness.errors import UsageError

    try:
        check(options.shard, options.durations, options.target)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


def _quarantined(config: pytest.Config) -> Mapping[str, str]:
    """Return the scenarios in quarantine, with their reasons. pytest.UsageError if the file cannot be used."""
    options = SessionOptions.of(config)
    if options.quarantine is None:
        return {}
    # Sessions without a quarantine do not need the reader of its file.
    from fencepost.harness.conformance.quarantine import Quarantine
    from fencepost.harness.errors import UsageError
    from fencepost.harness.targets.registry import load_file

    try:
        return Quarantine.load(options.quarantine).active(load_file(options.target).name, options.backend)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the scenarios in quarantine, and keep those of one shard.

    The shard comes after pytest has selected by -k and -m, so that shards stay balanced.
    """
    options = SessionOptions.of(config)
    for slug, reason in _quarantined(config).items():
        for item in items:
            if (scenario := _scenario_of(item)) is not None and scenario.slug == slug:
                item.add_marker(pytest.mark.xfail(reason=reason, strict=False))
    if options.shard is None:
        return
    # As above.
    from fencepost.harness.conformance.shards import chosen

    declared = {scenario.slug: scenario.seconds for item in items if (scenario := _scenario_of(item)) is not None}
    shard = chosen(options.shard, declared, options.durations, options.target)
    others = [item for item in items if (each := _scenario_of(item)) is not None and each.slug not in shard]
    items[:] = [item for item in items if item not in others]
    config.hook.pytest_deselected(items=others)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Announce the scenarios in their order. Each xdist worker collects all of them, so only the first one does it."""
    if os.environ.get("PYTEST_XDIST_WORKER", "gw0") != "gw0" or session.config.option.collectonly:
        return
    for item in session.items:
        scenario = _scenario_of(item)
        if scenario is not None:
            marker = item.get_closest_marker("requirement")
            requirements = marker.args if marker is not None else scenario.requirements
            Progress.from_environment(scenario.slug, scenario.title, requirements).report(Phase.QUEUED)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report a run that did not pass by its own text, without the frames of the harness that raised it."""
    report = yield
    if call.excinfo is not None and isinstance(call.excinfo.value, NotPassed):
        report.longrepr = str(call.excinfo.value)
        cause = call.excinfo.value.__cause__
        if cause is not None:
            shown = item.repr_failure(pytest.ExceptionInfo.from_exception(cause))
            report.longrepr += f"\n\nThe test itself ended before its run was judged:\n{shown}"
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> Generator[None, None, None]:
    """Set the exit status; when pytest has written its files, restate JUnit by the verdicts, and describe Allure's."""
    results = session.config.stash[_results]
    session.exitstatus = results.exit_status(exitstatus)
    yield
    if not results.verdicts or hasattr(session.config, "workerinput"):
        return
    # Sessions without a run, or without a file, need neither an XML parser nor Allure.
    if path := session.config.getoption("xmlpath", None):
        from fencepost.harness.conformance.session_files import restate_junit

        restate_junit(Path(os.path.expandvars(path)).expanduser())
    if results.runs and (folder := session.config.getoption("allure_report_dir", None)):
        from fencepost.harness.conformance.session_files import write_allure_session

        write_allure_session(Path(folder), results.runs.values())
