from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster_impl.zookeeper import ZooKeeperServer, zookeeper


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperServer]:
    with zookeeper(tmp_path_factory.mktemp("zookeeper")) as running:
        yield running
