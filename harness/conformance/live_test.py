"""The run of one test: begun by its fixtures, judged when its function has ended, and turned into its outcome."""

from __future__ import annotations

import re

import pytest
from pydantic import ValidationError

from fencepost.harness.conformance import allure_report
from fencepost.harness.conformance.live_plan import live_plan, unavailable
from fencepost.harness.conformance.live_run import LiveRun, StepFailed, in_words
from fencepost.harness.conformance.options import InconclusiveAs, SessionOptions
from fencepost.harness.conformance.outcome import NotBegun, NotPassed, raise_unless_passed
from fencepost.harness.conformance.results import SCENARIO_PROPERTY
from fencepost.harness.conformance.run_properties import run_properties
from fencepost.harness.errors import HarnessError, UsageError
from fencepost.harness.plan.model import Plan
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.verdict import RunVerdict

MARKER = "fencepost"
LIVE_RUN = pytest.StashKey[LiveRun]()


def plan_of(request: pytest.FixtureRequest) -> Plan:
    """Return the plan for a test. Its marker `fencepost` gives the arguments of `live_plan`.

    Skip the test, with the reason, if the target, the backend or this machine cannot do what it needs. Raise NotBegun
    for a wrong argument of the marker, or an unknown target.
    """
    __tracebackhide__ = True
    options = SessionOptions.of(request.config)
    marker = request.node.get_closest_marker(MARKER)
    given = dict(marker.kwargs) if marker is not None else {}
    named = {"name": _slug(request.node.name), "title": request.node.name, "document": request.node.location[0]}
    try:
        if marker is not None and marker.args:
            raise UsageError(f"it takes keywords only, such as needs=['pause'], and not {marker.args[0]!r}")
        given["needs"] = tuple(given.get("needs", ()))
        if reason := unavailable(options.target, options.backend, given["needs"]):
            pytest.skip(reason)
        return live_plan(options.target, **{**named, "seed": options.seed, **given})
    except (TypeError, ValidationError, UsageError) as error:
        where = f"the marker {MARKER} of {request.node.name}: " if marker is not None else ""
        message = where + (in_words(error) if isinstance(error, ValidationError) else str(error)).replace(
            "live_plan() ", ""
        )
    raise NotBegun(message)


def begin(request: pytest.FixtureRequest, plan: Plan) -> LiveRun:
    """Start the cluster of a test.

    Raise NotBegun if there cannot be such a cluster, Infrastructure, with its verdict, if it does not start.
    """
    __tracebackhide__ = True
    options = SessionOptions.of(request.config)
    item = request.node
    item.user_properties.append((SCENARIO_PROPERTY, plan.scenario))
    try:
        run = LiveRun(plan, options.runs, options.backend)
    except HarnessError as error:
        raise NotBegun(str(error)) from None
    if not run.started:
        _report(item, run, *run.finish())
        raise AssertionError("a cluster that did not start has no verdict")  # unreachable: the line above raises
    item.stash[LIVE_RUN] = run
    return run


def abandon(item: pytest.Item) -> None:
    """End the run of a test that did not come to its end: of another fixture, by an interrupt."""
    run = item.stash.get(LIVE_RUN, None)
    if run is not None and run.started:
        run.finish(interrupted=True)


def conclude(item: pytest.Item, error: BaseException | None) -> None:
    """Judge the run of a test whose function has ended, with this error or without; raise unless all passed.

    The verdict stands before the error of the test itself, which is shown below it.
    """
    run = item.stash.get(LIVE_RUN, None)
    if run is None or not run.started or isinstance(error, pytest.skip.Exception):
        return  # a test that skipped itself is abandoned by its fixture
    folder, verdict = run.finish()
    _report(item, run, folder, verdict, error)


def _report(
    item: pytest.Item, run: LiveRun, folder: RunFolder, verdict: RunVerdict, error: BaseException | None = None
) -> None:
    item.user_properties += run_properties(run.plan, folder, verdict)
    allure_report.parameters(run.plan)
    allure_report.attach(run.plan, folder, verdict)
    item.add_report_section("call", "fencepost", f"{verdict.verdict.value}: {verdict.headline}\n{folder.report}")
    by_itself = error is not None and not isinstance(error, StepFailed)
    inconclusive = InconclusiveAs.ERROR if by_itself else SessionOptions.of(item.config).inconclusive
    try:
        raise_unless_passed(verdict, folder, inconclusive)
    except NotPassed as not_passed:
        raise not_passed from error


def _slug(name: str) -> str:
    """Return the name of a test as plans write names."""
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.") or "test"
