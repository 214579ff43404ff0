"""Changes of ZooKeeper's tree that a plan makes without any node, as an administrator's tool would."""

from __future__ import annotations

from functools import partial

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError

from fencepost.harness.calls import in_time, named
from fencepost.harness.engine.errors import StepError

CONNECT_WITHIN = 5.0
ANSWER_WITHIN = 20.0
"""Seconds for the request and the end of the session: kazoo waits for both without end."""


def change_znode(action: str, path: str, data: str, hosts: str, *, sequence: bool = False) -> str:
    """Change a znode through any server that serves, and return its path, with the number of a sequential one.

    Raise StepError if no server takes a session in time, or if ZooKeeper refuses, for example an existing path;
    CallHangs if the client does not return.
    """
    name = f"{action} {path}"
    work = partial(_through_a_client, action, path, data.encode(), hosts, sequence)
    return in_time(name, CONNECT_WITHIN + ANSWER_WITHIN, work)


def _through_a_client(action: str, path: str, data: bytes, hosts: str, sequence: bool) -> str:
    client = named(KazooClient(hosts=hosts, timeout=CONNECT_WITHIN), "the harness")
    try:
        client.start(CONNECT_WITHIN)
        return _change(client, action, path, data, sequence)
    except KazooTimeoutError as error:
        raise StepError(f"no ZooKeeper server took a session within {CONNECT_WITHIN:g} s") from error
    except KazooException as error:
        raise StepError(f"could not {action} {path}: {type(error).__name__}") from error
    finally:
        client.stop()
        client.close()


def _change(client: KazooClient, action: str, path: str, data: bytes, sequence: bool) -> str:
    match action:
        case "create":
            return str(client.create(path, data, sequence=sequence))
        case "set":
            client.set(path, data)
        case "delete":
            client.delete(path)
    return path
