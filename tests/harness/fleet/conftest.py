"""The run folders of the tests of publication."""

from tests.harness.publishing.conftest import copy_run, saved

__all__ = ["copy_run", "saved"]
