"""Tests with an engine are skipped where there is none, unless FENCEPOST_REQUIRE_DOCKER says that one has to be."""

from __future__ import annotations

import os

import pytest

from fencepost.harness.backends import DOCKER, check_backend
from fencepost.harness.errors import InfrastructureError


@pytest.fixture(scope="session")
def an_engine() -> None:
    try:
        check_backend(DOCKER)
    except InfrastructureError as reason:
        if os.environ.get("FENCEPOST_REQUIRE_DOCKER"):
            raise
        pytest.skip(str(reason))
