"""Settings of brokers, as users have them: in some plans a few of those that change no guarantee."""

from __future__ import annotations

import random
from collections.abc import Mapping

from fencepost.harness.campaign.features import Feature, FeatureKind
from fencepost.harness.campaign.operations.requests import ONLY_KAFKA

VALUES: Mapping[str, tuple[str, ...]] = {
    "request.timeout.ms": ("5000",),
    "offsets.retention.check.interval.ms": ("1000",),
    "offsets.load.buffer.size": ("1000",),
    "log.message.timestamp.type": ("LogAppendTime",),
    "log.index.interval.bytes": ("1",),
    "num.replica.fetchers": ("3",),
}
MOST = 4


class BrokerSettings(Feature):
    """One to four settings of all brokers have other values than by default."""

    kind = FeatureKind.SETTINGS
    name = "broker-settings"
    left_out: Mapping[str, str] = dict.fromkeys(ONLY_KAFKA, "its nodes have no such settings")

    def values(self, rng: random.Random) -> dict[str, str]:
        """Return the settings of one plan."""
        keys = rng.sample(sorted(VALUES), rng.randint(1, MOST))
        return {key: rng.choice(VALUES[key]) for key in keys}
