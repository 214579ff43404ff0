"""One table refuses every request that has a place for an error in its response."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.refusals import REFUSABLE, refusal
from fencepost.cluster_impl.wire.registry import KAFKA, QUORUM_BROKER, QUORUM_CONTROLLER, ZK_BROKER

APIS = {**KAFKA, **ZK_BROKER, **QUORUM_BROKER, **QUORUM_CONTROLLER}


@pytest.mark.parametrize("key", sorted(REFUSABLE))
def test_a_refusal_is_of_the_requests_kind_and_can_be_sent_in_every_version(key: int) -> None:
    api = APIS[key]
    response = refusal(api.request(), Error.REQUEST_TIMED_OUT, "too late")
    assert type(response) is api.response
    for version in range(api.response.MIN_VERSION, api.response.MAX_VERSION + 1):
        assert type(api.response.decode(response.encode(version), version)) is api.response


def test_each_topic_of_a_request_gets_the_error_and_the_message() -> None:
    request = m.DeleteTopicsRequest(topic_names=["a", "b"])
    response = refusal(request, Error.NOT_CONTROLLER, "elsewhere")
    assert isinstance(response, m.DeleteTopicsResponse)
    errors = [(each.name, each.error_code, each.error_message) for each in response.responses]
    assert errors == [("a", Error.NOT_CONTROLLER, "elsewhere"), ("b", Error.NOT_CONTROLLER, "elsewhere")]


def test_a_request_without_a_place_for_an_error_cannot_be_refused() -> None:
    with pytest.raises(KeyError):
        refusal(m.MetadataRequest(), Error.NOT_CONTROLLER)
