"""A cluster that runs elsewhere, asked by requests for metadata alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kio.schema.index import api_key_map

from fencepost.harness.clients.login import connect
from fencepost.harness.clients.raw import NoAnswer
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.targets.elsewhere import ASK_SECONDS, Elsewhere


@dataclass(frozen=True)
class AnswersElsewhere:
    """The answers of a cluster that runs elsewhere."""

    target: str
    cluster_id: str
    listed: Mapping[int, str]
    """The brokers in its Metadata: `host:port` by id."""
    offered: Mapping[str, tuple[int, int]]
    """The lowest and the highest version of each request that all its brokers serve, by name."""


def ask(target: Elsewhere) -> AnswersElsewhere:
    """Ask the cluster for its brokers, and each broker for its versions.

    UsageError without the consent of its owner, InfrastructureError if it is another cluster or does not answer.
    """
    found = target.find()
    offered: list[Mapping[int, tuple[int, int]]] = []
    for id_ in target.file.brokers.ids:
        try:
            with connect(found.brokers[id_], ASK_SECONDS, target.access) as connection:
                offered.append(connection.offered())
        except NoAnswer as error:
            raise InfrastructureError(f"the broker {id_} of {target.file.name} does not answer: {error}") from None
    of_all = set.intersection(*(set(each) for each in offered))
    versions = {
        api_key_map.get(key, f"request-{key}"): (max(e[key][0] for e in offered), min(e[key][1] for e in offered))
        for key in sorted(of_all)
    }
    listed = {id_: str(endpoint) for id_, endpoint in sorted(found.brokers.items())}
    return AnswersElsewhere(f"{target.file.name}:{target.version}", found.cluster_id, listed, versions)
