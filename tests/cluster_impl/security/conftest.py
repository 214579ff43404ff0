"""Run the coroutines of tests on both event loops that a node may use."""

from tests.cluster_impl.wire.conftest import pytest_asyncio_loop_factories

__all__ = ["pytest_asyncio_loop_factories"]
