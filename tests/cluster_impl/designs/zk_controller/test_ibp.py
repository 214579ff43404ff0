"""The features that each level of the inter-broker protocol turns on."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.config.ibp import Ibp


@pytest.mark.requirement("K343-57", "K343-58", "K343-59", "RSE-35", "D343-18")
@pytest.mark.parametrize(
    ("version", "heartbeats", "replica_events", "info_version"),
    [("2.0", False, False, 4), ("2.1", True, False, 5), ("2.6", True, True, 5)],
)
def test_a_level_turns_on_what_it_is_for_and_what_came_before(
    version: str, heartbeats: bool, replica_events: bool, info_version: int
) -> None:
    level = Ibp(version)
    assert (level.has_heartbeats, level.has_replica_events) == (heartbeats, replica_events)
    assert level.broker_info_version == info_version
