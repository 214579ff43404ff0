"""Runs coroutines of tests on both event loops that a node may use."""

from tests.cluster_impl.wire.conftest import run

__all__ = ["run"]
