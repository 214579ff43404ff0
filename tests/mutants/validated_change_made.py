"""A controller that changes settings although the request asks only to validate (against ADM-01)."""

from __future__ import annotations

from copy import copy

from fencepost.cluster_impl.api.config_changes import AlterRequest, AlterResponse
from fencepost.cluster_impl.designs.quorum.controller import configs, controller
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState


def apply() -> None:
    honest = configs.alter_configs

    def changing(state: ControllerState, request: AlterRequest) -> ControllerResult[AlterResponse]:
        meant = copy(request)
        meant.validate_only = False
        return honest(state, meant)

    configs.alter_configs = changing
    controller.alter_configs = changing  # type: ignore[attr-defined]
