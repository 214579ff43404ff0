"""Changes of ZooKeeper's tree that a plan makes without any node, as an administrator's tool would."""

from __future__ import annotations

from functools import partial

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError

from fencepost.harness.calls import in_time, named
from fencepost.harness.engine.errors import StepError
from fencepost.harness.plan.steps import ZnodeStep

CONNECT_WITHIN = 5.0
ANSWER_WITHIN = 20.0
"""Seconds for the request and the end of the session: kazoo waits for both without end."""


def change_znode(step: ZnodeStep, hosts: str) -> str:
    """Change a znode through any server that serves, and return its path, with the number of a sequential one.

    Raise StepError if no server takes a session in time, or if ZooKeeper refuses, for example an existing path;
    CallHangs if the client does not return.
    """
    name = f"{step.action} {step.path}"
    return in_time(name, CONNECT_WITHIN + ANSWER_WITHIN, partial(_through_a_client, step, hosts))


def _through_a_client(step: ZnodeStep, hosts: str) -> str:
    client = named(KazooClient(hosts=hosts, timeout=CONNECT_WITHIN), "the harness")
    try:
        client.start(CONNECT_WITHIN)
        return _change(client, step)
    except KazooTimeoutError as error:
        raise StepError(f"no ZooKeeper server took a session within {CONNECT_WITHIN:g} s") from error
    except KazooException as error:
        raise StepError(f"could not {step.action} {step.path}: {type(error).__name__}") from error
    finally:
        client.stop()
        client.close()


def _change(client: KazooClient, step: ZnodeStep) -> str:
    data = step.data.encode()
    match step.action:
        case "create":
            return str(client.create(step.path, data, sequence=step.sequence))
        case "set":
            client.set(step.path, data)
        case "delete":
            client.delete(step.path)
    return step.path
