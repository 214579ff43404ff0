"""All brokers describe the same settings."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed


class SettingsAgree(AwaitStep):
    """All running brokers describe the same settings of each topic. A release without DescribeConfigs is not asked."""

    phrase = "all brokers describe the same settings of topics"
    condition: Literal["settings-agree"] = "settings-agree"
    values: dict[str, dict[str, str | None]] = Field(default_factory=dict)
    """Values by topic and key that each of them describes; null: the topic was not given that setting."""

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        agreement = run.settings_agreement(self.values)
        return Evaluation(agreement, lambda: agreement.seen or "they agree", lambda: agreement.found)
