"""The consent of its owner to send anything to a cluster that runs elsewhere: `--i-own-this-cluster NAME`.

NAME is the id of the cluster, which its brokers tell. A target's name would say only which file was meant: an address
that leads elsewhere than its author believed has another id. A cluster that tells none is named by its target.
"""

from __future__ import annotations

import os

from fencepost.harness.errors import InfrastructureError, UsageError

FLAG = "--i-own-this-cluster"
VARIABLE = "FENCEPOST_I_OWN_THIS_CLUSTER"
"""Hands the name over to the processes that run the scenarios."""


def give_consent(name: str | None) -> None:
    """Let this process and its children send to the cluster of this name; without a name to none."""
    if name is None:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = name


def consented(target: str) -> str:
    """Return the name that the user gave. UsageError without one: nothing is sent to the target then."""
    if not (name := os.environ.get(VARIABLE)):
        raise UsageError(
            f"{target} is a cluster that runs elsewhere, and nothing is sent to it unless it is yours: say "
            f"{FLAG} ID, with the id of the cluster (kafka-cluster.sh cluster-id), or {target} if it has none"
        )
    return name


def check_consent(target: str, cluster_id: str | None) -> None:
    """Raise InfrastructureError unless the cluster that answers is the one that the user named."""
    name, found = consented(target), cluster_id or target
    if name != found:
        raise InfrastructureError(
            f"the cluster that answers for {target} is {found}, and {FLAG} names {name}: nothing more was sent. If "
            f"{found} is yours, name it"
        )
