"""CreateAcls, DescribeAcls and DeleteAcls on the active controller."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.designs.quorum.controller.acls import create_acls, delete_acls, describe_acls
from fencepost.cluster_impl.designs.quorum.features import METADATA_FORMAT
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.quorum.controller_model import Model

Creation = m.CreateAclsRequest.AclCreation
TOPIC, LITERAL, PREFIXED, READ, WRITE, DENY, ALLOW, ANY = 2, 3, 4, 3, 4, 2, 3, 1


@pytest.fixture
def model() -> Model:
    """At level 2 of metadata.format."""
    model = Model()
    model.append([m.FeatureLevelRecord(name=METADATA_FORMAT, level=2)])
    return model


def creation(name: str = "t", operation: int = READ, principal: str = "User:alice", pattern: int = LITERAL) -> Creation:
    return Creation(
        resource_type=TOPIC,
        resource_name=name,
        resource_pattern_type=pattern,
        principal=principal,
        host="*",
        operation=operation,
        permission_type=ALLOW,
    )


def create(model: Model, *creations: Creation) -> list[int]:
    reply = model.run(create_acls(model.state, m.CreateAclsRequest(creations=list(creations))))
    return [result.error_code for result in reply.results]


def names(model: Model, **wanted: object) -> list[tuple[str, int]]:
    every = {"resource_name_filter": None, "principal_filter": None, "host_filter": None}
    kinds = {"resource_type_filter": ANY, "pattern_type_filter": ANY, "operation": ANY, "permission_type": ANY}
    request = m.DescribeAclsRequest(**{**every, **kinds, **wanted})  # type: ignore[arg-type]  # each has its type
    reply = model.run(describe_acls(model.state, request))
    assert reply.error_code == Error.NONE
    return [(resource.resource_name, acl.operation) for resource in reply.resources for acl in resource.acls]


@pytest.mark.requirement("K631-66")
def test_an_entry_is_one_record_and_a_second_time_none(model: Model) -> None:
    assert create(model, creation(), creation()) == [Error.NONE, Error.NONE]
    assert model.log[1:] == [
        m.AccessControlRecord(
            resource_type=TOPIC,
            resource_name="t",
            pattern_type=LITERAL,
            principal="User:alice",
            host="*",
            operation=READ,
            permission_type=ALLOW,
        )
    ]
    assert create(model, creation()) == [Error.NONE]
    assert len(model.log) == 2


def test_a_bad_entry_is_refused_and_the_others_are_created(model: Model) -> None:
    assert create(model, creation(principal="alice"), creation("u")) == [Error.INVALID_REQUEST, Error.NONE]
    assert names(model) == [("u", READ)]


@pytest.mark.requirement("K631-21")
def test_below_level_2_there_are_no_entries() -> None:
    model = Model()
    assert create(model, creation()) == [Error.UNSUPPORTED_VERSION]
    assert model.log == []


def test_entries_are_described_by_resource_as_the_filter_asks(model: Model) -> None:
    create(model, creation("t"), creation("t", WRITE), creation("t-", pattern=PREFIXED), creation("u"))
    assert names(model, resource_name_filter="t", pattern_type_filter=LITERAL) == [("t", READ), ("t", WRITE)]
    assert names(model, operation=WRITE) == [("t", WRITE)]
    assert names(model, principal_filter="User:bob") == []
    bad = m.DescribeAclsRequest(resource_type_filter=0, operation=ANY, permission_type=ANY)
    assert model.run(describe_acls(model.state, bad)).error_code == Error.INVALID_REQUEST


@pytest.mark.requirement("K631-66")
def test_a_filter_deletes_what_it_matches_once(model: Model) -> None:
    create(model, creation("t"), creation("t", WRITE), creation("u"))
    every = m.DeleteAclsRequest.DeleteAclsFilter(
        resource_type_filter=TOPIC, resource_name_filter="t", pattern_type_filter=LITERAL, principal_filter=None,
        host_filter=None, operation=ANY, permission_type=ANY,
    )  # fmt: skip
    bad = m.DeleteAclsRequest.DeleteAclsFilter(resource_type_filter=TOPIC, operation=0, permission_type=ANY)
    length = len(model.log)
    reply = model.run(delete_acls(model.state, m.DeleteAclsRequest(filters=[every, every, bad])))
    assert [len(result.matching_acls) for result in reply.filter_results] == [2, 2, 0]
    assert reply.filter_results[2].error_code == Error.INVALID_REQUEST
    assert [type(record) for record in model.log[length:]] == [m.DeleteAccessControlRecord] * 2
    assert names(model) == [("u", READ)]
