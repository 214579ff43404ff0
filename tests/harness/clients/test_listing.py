from __future__ import annotations

from pathlib import Path

from confluent_kafka.admin import AdminClient

from fencepost.harness.clients.listing import topics_there
from tests.cluster_impl.static_cluster import static_cluster

SECONDS = 30.0


def test_topics_are_asked_for_one_by_one_where_a_name_was_none(tmp_path: Path) -> None:
    with static_cluster(tmp_path, 1) as cluster:
        cluster.create("t", [[1]])
        cluster.create("u", [[1], [1]])
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        assert {"t", "u"} <= topics_there(admin, {"t"}, SECONDS).keys()
        found = topics_there(admin, {"", "u", "absent"}, SECONDS)
        assert {name: len(topic.partitions) for name, topic in found.items()} == {"u": 2}
