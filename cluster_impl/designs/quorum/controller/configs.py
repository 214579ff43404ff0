"""AlterConfigs and IncrementalAlterConfigs: one ConfigRecord for each setting that changes (KIP-631, ConfigRecord).

The draft has a record for a setting's value and none for its removal: a ConfigRecord without a value removes it
(decision D631-31).
"""

from __future__ import annotations

from fencepost.cluster_impl.api.config_changes import AlterRequest, AlterResponse, response_to
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState
from fencepost.cluster_impl.designs.shared.config_requests import decide
from fencepost.cluster_impl.wire import messages as m


def alter_configs(state: ControllerState, request: AlterRequest) -> ControllerResult[AlterResponse]:
    """Decide a whole request; resources that are refused change nothing, the others form one batch."""
    decided = decide(request, state.image.settings_of, state.image.topics)
    records = [
        m.ConfigRecord(resource_type=each.outcome.type, resource_name=each.outcome.name, name=name, value=value)
        for each in decided
        for name, value in each.changes.items()
    ]
    reply = response_to(request, [each.outcome for each in decided])
    return ControllerResult(reply, () if request.validate_only else records)
