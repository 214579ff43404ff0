"""A call that does not return is given up at its deadline, and named."""

import threading
import time

import pytest

from fencepost.harness.calls import Activity, in_time, named
from fencepost.harness.errors import CallHangs

NEVER = threading.Event()


class Client:
    def close(self) -> None:
        NEVER.wait()

    def poll(self, callback: object) -> None:
        assert callable(callback)
        callback()
        NEVER.wait()

    def answer(self) -> int:
        return 7

    settings = 3


def test_what_returns_in_time_is_the_result() -> None:
    client = named(Client(), "c1")
    assert in_time("asking", 20.0, client.answer) == 7
    assert client.settings == 3


def test_a_call_that_hangs_is_named() -> None:
    with pytest.raises(
        CallHangs, match=r"^the client c1 did not end: Client.close\(\) of c1 has not returned for 0\.\d s$"
    ):
        in_time("the client c1", 0.1, named(Client(), "c1").close)


def test_an_outer_call_is_named_after_the_library_called_back() -> None:
    client = named(Client(), "c1")
    with pytest.raises(CallHangs, match=r"Client.poll\(\) of c1"):
        in_time("the client c1", 0.1, lambda: client.poll(client.answer))


def test_the_innermost_call_is_named_even_if_another_call_waits_for_it() -> None:
    client = named(Client(), "c1")
    with pytest.raises(CallHangs, match=r"Client.close\(\) of c1"):
        in_time("the run", 0.2, lambda: in_time("the client c1", 60.0, client.close))


def test_a_place_without_a_named_call_is_the_function() -> None:
    def spin() -> None:
        NEVER.wait()

    with pytest.raises(CallHangs, match=r"spin \(test_calls.py:\d+\)"):
        in_time("the client c1", 0.1, spin)


def test_errors_of_the_work_are_its_own() -> None:
    def fail() -> None:
        raise TimeoutError("of its own")

    with pytest.raises(TimeoutError, match="of its own"):
        in_time("the client c1", 20.0, fail)


def test_an_activity_goes_on_while_others_wait_for_it_in_turn() -> None:
    go_on = threading.Event()
    activity = Activity("the client c1", lambda: go_on.wait(20.0))
    with pytest.raises(CallHangs):
        activity.result(time.monotonic())
    go_on.set()
    assert activity.result(time.monotonic() + 20.0)
