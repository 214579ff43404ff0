"""Shared parts of the tests here. The option `--target` is their own: those of fencepost begin with its name."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--target", default="staging", help="the environment of Acme that other tests use")


@pytest.fixture
def environment(request: pytest.FixtureRequest) -> str:
    return str(request.config.getoption("--target"))
