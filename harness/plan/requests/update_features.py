"""A feature that is finalized at a level."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.answers import ProbeAnswer, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.requests.request import KafkaRequest
from fencepost.harness.plan.step_error import StepError
from fencepost.harness.wire.versions import API_VERSIONS, CLIENT_ID, UPDATE_FEATURES

UPGRADE_TYPES = {"upgrade": 1, "safe-downgrade": 2, "unsafe-downgrade": 3}
"""The values of UpgradeType (KIP-778)."""


class UpdateFeaturesProbe(KafkaRequest):
    """UpdateFeatures: finalize a feature at `level`, as `kafka-features` does at the end of an upgrade.

    The response is served once the new level is in the metadata log.
    """

    phrase = "Ask {node} to finalize {feature} at the level {level}"
    listener = Listener.CLIENT
    only_in = (Dialect.KRAFT, "finalizes a feature of KRaft, which {target} does not have: roll its level")
    sends = ("update_features",)
    request: Literal["update-features"] = "update-features"
    feature: str = "metadata.version"
    level: Annotated[int, Field(ge=0)] | Literal["highest"] = "highest"
    """`highest`: the highest level that the node supports, by its ApiVersions response."""
    how: Literal["upgrade", "safe-downgrade", "unsafe-downgrade"] = "upgrade"

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        level = self.level if isinstance(self.level, int) else _highest(self.feature, connection)
        update = {"feature": self.feature, "max_version_level": level, "upgrade_type": UPGRADE_TYPES[self.how]}
        body = {"timeout": self.timeout_ms, "feature_updates": [update], "validate_only": False}
        answer = UPDATE_FEATURES.ask(connection, body)
        errors = [(each.error_code, each.error_message) for each in (answer, *answer.results)]
        error, message = next((each for each in errors if each[0]), (0, None))
        return answered(error, message=message, sent={"feature": self.feature, "level": level, "how": self.how})


def _highest(feature: str, connection: Connection) -> int:
    """Return the highest level of a feature that the node supports. StepError if it does not have the feature."""
    body = {"client_software_name": CLIENT_ID, "client_software_version": "1"}
    supported = API_VERSIONS.ask(connection, body).supported_features
    levels = {each.name: int(each.max_version) for each in supported}
    if feature not in levels:
        raise StepError(f"the node does not have the feature {feature}; it has {', '.join(levels) or 'none'}")
    return levels[feature]
