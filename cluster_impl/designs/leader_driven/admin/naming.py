"""Names of topics that come from outside: checked before they are part of a path."""

from __future__ import annotations

from cluster_impl.designs.leader_driven.admin.seam import Failed
from cluster_impl.designs.topic_name import problem_with_name
from cluster_impl.wire.errors import Error


def check_name(topic: str) -> None:
    """Raises Failed if no topic can have this name."""
    problem = problem_with_name(topic)
    if problem:
        raise Failed(Error.INVALID_TOPIC_EXCEPTION, problem)
