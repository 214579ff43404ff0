"""AlterConfigs that keeps the settings which it does not name (against KIP-339: it replaces all of a resource's)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from fencepost.cluster_impl.api.config_changes import AlterRequest
from fencepost.cluster_impl.designs.on_zookeeper import config_writes
from fencepost.cluster_impl.designs.quorum.controller import settings
from fencepost.cluster_impl.designs.shared import config_requests
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import ALL, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("ADM-04",),
    scenarios=(),
    unit="tests/mutants/unknown/test_accepted.py::test_alter_configs_replaces_all_settings_of_a_resource",
    kind=Kind.ACCEPTED,
)


def apply() -> None:
    honest = config_requests.decide

    def keeping(
        request: AlterRequest,
        settings_of: Callable[[int, str], Mapping[str, str]],
        topics: Collection[str],
        switches: Collection[str] = (),
        taken_up: Callable[[str], bool] = lambda _: False,
    ) -> list[config_requests.Decided]:
        decided = honest(request, settings_of, topics, switches, taken_up)
        if isinstance(request, m.IncrementalAlterConfigsRequest):
            return decided
        return [
            replace(one, changes={name: value for name, value in one.changes.items() if value is not None})
            for one in decided
        ]

    for module in (config_requests, settings, config_writes):
        vars(module)["decide"] = keeping
