"""Requests of an administrator, past all links that faults break.

Where there are logins, they log in as the user of nodes: no fault takes that one away.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from kio.schema.errors import ErrorCode
from kio.schema.incremental_alter_configs.v1.request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kio.schema.incremental_alter_configs.v1.response import IncrementalAlterConfigsResponse
from kio.static.primitive import i8

from fencepost.faults.capabilities import CapabilityError
from fencepost.harness.clients.login import connect
from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.network.layout import Layout, Listener
from fencepost.harness.plan.security import BROKER_USER, PASSWORDS
from fencepost.harness.targets.security import access
from fencepost.harness.targets.target import Installation
from fencepost.harness.wire.no_answer import NoAnswer

TIMEOUT = 10.0
"""Seconds for a connection, for each request on it, and for a controller to be there."""
ASK_EVERY = 0.1
OF_BROKERS, SET, DELETE = i8(4), i8(0), i8(1)
"""Kafka's numbers of a type of resource, and of operations on settings."""


def administrator(node: str, layout: Layout, installation: Installation) -> RawConnection:
    """Return a connection to a broker, as the user of nodes where there are logins. Raises NoAnswer."""
    known = access(Listener.CLIENT, installation)
    if known.credentials is not None:
        own = known.credentials._replace(user=BROKER_USER, password=PASSWORDS[BROKER_USER])
        known = known._replace(credentials=own)
    return connect(layout.probe_link(node, Listener.CLIENT).listen, TIMEOUT, known)


def alter_settings(node: str, settings: Mapping[str, str | None], layout: Layout, installation: Installation) -> None:
    """Set settings of a broker that runs, or take them away (None). Raises CapabilityError."""
    changes = (
        AlterableConfig(name=name, config_operation=DELETE if value is None else SET, value=value)
        for name, value in settings.items()
    )
    of_broker = AlterConfigsResource(
        resource_type=OF_BROKERS, resource_name=str(layout.node(node).id), configs=tuple(changes)
    )
    request = IncrementalAlterConfigsRequest(resources=(of_broker,), validate_only=False)
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            with administrator(node, layout, installation) as connection:
                (result,) = connection.call(request, IncrementalAlterConfigsResponse).responses
        except NoAnswer as error:
            raise CapabilityError(f"{node} does not change its settings: {error}") from error
        if result.error_code is not ErrorCode.not_controller or time.monotonic() > deadline:
            break
        time.sleep(ASK_EVERY)  # an election is going on
    if result.error_code:
        raise CapabilityError(f"{node} does not change its settings: {result.error_message or result.error_code.name}")
