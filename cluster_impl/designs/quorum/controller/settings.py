"""AlterConfigs, IncrementalAlterConfigs and UpdateFeatures: the settings of the cluster as records.

There is one ConfigRecord for each setting that changes (KIP-631, ConfigRecord). The draft has a record for a setting's
value and none for its removal: a ConfigRecord without a value removes it (decision D631-31). The level of
metadata.format is raised once every node supports the new one (decision 0068).
"""

from __future__ import annotations

from fencepost.cluster_impl.api.config_changes import AlterRequest, AlterResponse, response_to
from fencepost.cluster_impl.config.security import is_run_time_key
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState
from fencepost.cluster_impl.designs.quorum.features import FIRST, SUPPORTED
from fencepost.cluster_impl.designs.shared.config_requests import decide
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

Result = m.UpdateFeaturesResponse.UpdatableFeatureResult


def alter_configs(state: ControllerState, request: AlterRequest) -> ControllerResult[AlterResponse]:
    """Decide a whole request; resources that are refused change nothing, the others form one batch."""
    decided = decide(request, state.image.settings_of, state.image.topics, taken_up=is_run_time_key)
    records = [
        m.ConfigRecord(resource_type=each.outcome.type, resource_name=each.outcome.name, name=name, value=value)
        for each in decided
        for name, value in each.changes.items()
    ]
    reply = response_to(request, [each.outcome for each in decided])
    return ControllerResult(reply, () if request.validate_only else records)


def update_features(
    state: ControllerState, request: m.UpdateFeaturesRequest
) -> ControllerResult[m.UpdateFeaturesResponse]:
    """Decide a whole request; features that are refused change nothing."""
    results, records = [], []
    for update in request.feature_updates:
        name, level = update.feature, update.max_version_level
        try:
            _check_level(state, name, level)
        except RequestError as error:
            results.append(Result(feature=name, error_code=error.error, error_message=str(error)))
            continue
        results.append(Result(feature=name))
        if level != state.image.level_of(name):
            records.append(m.FeatureLevelRecord(name=name, level=level))
    reply = m.UpdateFeaturesResponse(results=results)
    return ControllerResult(reply, () if request.validate_only else records)


def _check_level(state: ControllerState, name: str, level: int) -> None:
    """Raise RequestError unless the feature can have this level now."""
    if name not in SUPPORTED:
        raise RequestError(Error.FEATURE_UPDATE_FAILED, f"There is no feature {name}; there is {', '.join(SUPPORTED)}.")
    present = state.image.level_of(name)
    if level < present:
        message = f"{name} has level {present} and cannot be lowered: the log may hold records of that level."
        raise RequestError(Error.INVALID_UPDATE_VERSION, message)
    if level not in SUPPORTED[name]:
        has = SUPPORTED[name]
        message = f"{name} can have the levels {has.lowest} to {has.highest}, not {level}."
        raise RequestError(Error.INVALID_UPDATE_VERSION, message)
    unable = [
        f"broker {broker.id}"
        for broker in state.image.brokers.values()
        if level not in broker.features.get(name, FIRST)
    ] + [
        f"controller {controller}"
        for controller in sorted(state.controller_ids - {state.controller_id})
        if level not in state.controller_features.get(controller, {}).get(name, FIRST)
    ]
    if unable:
        message = f"{name} {level} is not reported as supported by {', '.join(unable)}: update them, and ask again."
        raise RequestError(Error.INVALID_UPDATE_VERSION, message)
