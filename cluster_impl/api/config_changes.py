"""AlterConfigs and IncrementalAlterConfigs: the outcome of each resource, and the responses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

AlterRequest = m.AlterConfigsRequest | m.IncrementalAlterConfigsRequest
AlterResponse = m.AlterConfigsResponse | m.IncrementalAlterConfigsResponse


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one resource of a request."""

    type: int
    name: str
    error: Error = Error.NONE
    message: str | None = None


def response_to(request: AlterRequest, outcomes: Iterable[Outcome]) -> AlterResponse:
    """Return the response of the request's kind."""
    if isinstance(request, m.AlterConfigsRequest):
        replaced = m.AlterConfigsResponse.AlterConfigsResourceResponse
        return m.AlterConfigsResponse(
            responses=[
                replaced(resource_type=at.type, resource_name=at.name, error_code=at.error, error_message=at.message)
                for at in outcomes
            ]
        )
    changed = m.IncrementalAlterConfigsResponse.AlterConfigsResourceResponse
    return m.IncrementalAlterConfigsResponse(
        responses=[
            changed(resource_type=at.type, resource_name=at.name, error_code=at.error, error_message=at.message)
            for at in outcomes
        ]
    )
