"""The fixtures that give a test a cluster of its own, and the judgement of its run (`docs/pytest.md`).

The plugin loads this module in every pytest session, so the fixtures import what they need when they are asked for.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from fencepost.harness.conformance.live import LiveCluster, LiveFaults, LiveWorkload
    from fencepost.harness.plan.model import Plan


@pytest.fixture
def fencepost_plan(request: pytest.FixtureRequest) -> Plan:
    """Return the plan of the cluster that a test gets. Override it to have other nodes, topics or clients.

    `fencepost.harness.conformance.live_plan.live_plan` makes one.
    """
    from fencepost.harness.conformance.live_test import plan_of

    return plan_of(request)


@pytest.fixture
def fencepost_cluster(request: pytest.FixtureRequest, fencepost_plan: Plan) -> Iterator[LiveCluster]:
    """Start a cluster of the session's target. It ends with the test, and its run is judged then."""
    from fencepost.harness.conformance.live import LiveCluster
    from fencepost.harness.conformance.live_test import abandon, begin

    yield LiveCluster(begin(request, fencepost_plan))
    abandon(request.node)


@pytest.fixture
def fencepost_faults(fencepost_cluster: LiveCluster) -> LiveFaults:
    """Inject and heal faults of the test's cluster, each with a proof."""
    from fencepost.harness.conformance.live import LiveFaults

    return LiveFaults(fencepost_cluster)


@pytest.fixture
def fencepost_workload(fencepost_cluster: LiveCluster) -> LiveWorkload:
    """Run a producer and a consumer on the test's cluster, whose history is judged at the end of the test."""
    from fencepost.harness.conformance.live import LiveWorkload

    return LiveWorkload(fencepost_cluster)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Judge the run of the test once its function has ended: a violation is a failure of the test, not of a fixture."""
    error: BaseException | None = None
    try:
        yield
    except pytest.exit.Exception:
        raise  # the session ends, and the fixture with it
    except (Exception, pytest.fail.Exception, pytest.skip.Exception) as raised:
        error = raised
    if "fencepost_cluster" in getattr(item, "fixturenames", ()):
        from fencepost.harness.conformance.live_test import conclude

        conclude(item, error)
    if error is not None:
        raise error
