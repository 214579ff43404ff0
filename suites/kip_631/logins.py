"""Listeners between nodes that ask for a login, and the permission without which a controller does nothing."""

from __future__ import annotations

from typing import Any

from fencepost.suites import vocabulary as v


@v.scenario(
    "logins-between-nodes",
    "Controllers do what logged-in nodes ask, and nothing for users without the permission",
    seconds=8,
    dialects=frozenset({v.Dialect.KIP_631}),
)
def build(draft: v.Draft) -> v.Plan:
    """Nodes log in to each other and serve; a user without rights, and one without an account, get nothing done."""
    _, broker, _ = draft.roles

    def heartbeat(name: str, outcome: str, *rules: str, **more: Any) -> v.Step:
        rule, *also = rules
        values = {"node": "active-controller", "broker": broker, "timeout_ms": 5000, "unchanged": ("brokers", "t-0")}
        return v.HeartbeatProbe.model_validate(
            {"as": name, "expect": v.answers(rule, outcome, *also), **values, **more}
        )

    steps: list[v.Step] = [
        heartbeat("of-a-node", "served", "D631-44"),
        heartbeat("without-rights", "error:31", "K631-10", user="alice"),
        heartbeat("in-initial", "error:31", "K631-10", user="alice", state="initial", broker_epoch=-1),
        heartbeat("without-account", "error:58", "D631-44", user="unknown"),
        v.described_quorum(
            "without-login",
            draft=True,
            version=0,
            login=False,
            timeout_ms=1000,
            within_ms=0,
            expect=v.answers("D631-44", "refused"),
        ),
    ]
    return draft.plan(steps, "without-login", v.acknowledged("without-login.ended"), security="sasl")
