"""Requests that are refused: by epoch, by permission, by their sender, by what they ask for."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast
from uuid import UUID

from fencepost.cluster_impl.api.authorization.guard import authorized
from fencepost.cluster_impl.api.fetch_sessions import FetchSessions
from fencepost.cluster_impl.designs.quorum.controller import settings
from fencepost.cluster_impl.security.access_control import AccessControl
from fencepost.cluster_impl.security.entries import AccessControlEntry, AclOperation, ResourceType
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.registry import QUORUM_CLIENTS
from fencepost.cluster_impl.wire.server import Request
from tests.cluster_impl.api.test_group import member, stable
from tests.cluster_impl.designs.quorum.controller_model import Model
from tests.cluster_impl.static_cluster import static_cluster
from tests.waiting import eventually

TOPIC_ID = UUID(int=1)
READ = [(ResourceType.TOPIC, "t", AclOperation.READ), (ResourceType.GROUP, "g", AclOperation.READ)]


class Connection:
    host = "127.0.0.1"


def request(body: Message) -> Request:
    api = QUORUM_CLIENTS[body.API_KEY]
    return Request(api, api.max_version, 1, None, body, cast("Any", Connection()), 0.0, "CLIENT", "User:alice")


def reached(body: Message, *allowed: tuple[ResourceType, str, AclOperation]) -> bool:
    """Return whether a request of a user with these permissions gets to its handler."""
    entries = {
        AccessControlEntry(kind, name, 3, "User:alice", "*", operation, 3): None for kind, name, operation in allowed
    }
    handled = list[Request]()
    handlers = authorized({body.API_KEY: handled.append}, AccessControl(lambda: entries, set()), {TOPIC_ID: "t"}.get)
    handlers[body.API_KEY](request(body))
    return bool(handled)


def test_a_fetch_session_goes_on_at_its_next_epoch_only() -> None:
    handlers = FetchSessions(4).among({m.FetchRequest.API_KEY: lambda _: m.FetchResponse()})

    def fetch(session: int, epoch: int) -> m.FetchResponse:
        return cast("m.FetchResponse", handlers[1](request(m.FetchRequest(session_id=session, session_epoch=epoch))))

    session = fetch(0, 0).session_id
    assert fetch(session, 1).error_code == Error.NONE
    assert fetch(session, 1).error_code == Error.INVALID_FETCH_SESSION_EPOCH


def test_offsets_of_a_topic_are_committed_by_those_that_may_read_it() -> None:
    topic = m.OffsetCommitRequest.OffsetCommitRequestTopic(name="t")
    body = m.OffsetCommitRequest(group_id="g", topics=[topic])
    assert reached(body, *READ) and not reached(body, READ[1])


def test_readers_of_a_topic_delete_no_records() -> None:
    topic = m.DeleteRecordsRequest.DeleteRecordsTopic(name="t")
    assert not reached(m.DeleteRecordsRequest(topics=[topic]), *READ)


def test_a_topic_is_deleted_by_its_id_by_those_that_may_delete_it() -> None:
    topic = m.DeleteTopicsRequest.DeleteTopicState(name=None, topic_id=TOPIC_ID)
    assert not reached(m.DeleteTopicsRequest(topics=[topic]), *READ)


def test_a_replaced_static_member_is_fenced() -> None:
    group = stable("a")
    group.join(member("static-1", instance="i"), "first", 2.0)
    group.join(member("static-2", instance="i"), "second", 2.0)
    assert group.heartbeat("static-1", "i", group.generation, 3.0) is Error.FENCED_INSTANCE_ID


def test_no_partition_moves_to_a_broker_that_is_not_registered() -> None:
    model = Model()
    model.join(4, 5)
    model.topic("t", 4)
    assert model.reassign("t", [99]) == Error.INVALID_REPLICA_ASSIGNMENT


def test_no_feature_level_is_lowered() -> None:
    model = Model()
    model.append([m.FeatureLevelRecord(name="metadata.format", level=2)])
    update = m.UpdateFeaturesRequest.FeatureUpdateKey(feature="metadata.format", max_version_level=1)
    model.run(settings.update_features(model.state, m.UpdateFeaturesRequest(feature_updates=[update])))
    assert model.image.level_of("metadata.format") == 2


def test_an_offset_with_too_much_metadata_is_refused(tmp_path: Path) -> None:
    with static_cluster(tmp_path, 1) as cluster:
        cluster.create("t", [[1]])
        find = m.FindCoordinatorRequest(key="g")
        eventually(lambda: cluster.ask(1, find, 3).error_code == Error.NONE, "there is a coordinator")
        offset = m.OffsetCommitRequest.OffsetCommitRequestPartition(
            partition_index=0, committed_offset=5, committed_metadata="m" * 4097
        )
        topic = m.OffsetCommitRequest.OffsetCommitRequestTopic(name="t", partitions=[offset])
        commit = m.OffsetCommitRequest(group_id="g", generation_id_or_member_epoch=-1, topics=[topic])
        answer = cluster.ask(1, commit, 8).topics[0].partitions[0]
        assert answer.error_code == Error.OFFSET_METADATA_TOO_LARGE
