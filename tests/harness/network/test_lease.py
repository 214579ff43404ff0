"""Two clusters on one machine never have the same addresses."""

import os
import socket
from pathlib import Path

import pytest

from fencepost.harness.errors import InfrastructureError, UsageError
from fencepost.harness.network import lease as leasing
from fencepost.harness.network.addresses import LAST_K, Addresses, Endpoint
from fencepost.harness.network.lease import Lease, leases


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))


def _acquire(run: Path) -> Lease:
    return Lease.acquire(run, lambda addresses: [addresses.toxiproxy])


def test_a_folder_where_others_could_write_leases_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "runtime" / "fencepost"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    with pytest.raises(UsageError, match="is not a folder in which only this user writes"):
        leases()
    folder.rmdir()
    folder.symlink_to(tmp_path)
    with pytest.raises(UsageError, match="is not a folder in which only this user writes"):
        _acquire(tmp_path)


def test_a_lease_that_leads_elsewhere_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leasing, "FIRST_K", LAST_K)
    precious = tmp_path / "precious"
    precious.write_text("kept")
    (leasing.state_folder() / f"{LAST_K}.lease").symlink_to(precious)
    with pytest.raises(OSError, match="symbolic links"):
        _acquire(tmp_path)
    assert precious.read_text() == "kept"


def test_two_leases_at_a_time_are_of_different_addresses(tmp_path: Path) -> None:
    with _acquire(tmp_path) as one, _acquire(tmp_path) as other:
        assert one.addresses != other.addresses


def test_a_lease_names_its_run_until_it_is_given_back(tmp_path: Path) -> None:
    with _acquire(tmp_path) as lease:
        assert [(each.k, each.run) for each in leases()] == [(lease.addresses.k, tmp_path)]
    assert leases() == []
    assert list(leasing.state_folder().iterdir()) == []


def test_a_lease_that_was_given_back_while_another_run_waited_for_it_is_taken_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leasing, "FIRST_K", 15)
    monkeypatch.setattr(leasing, "LAST_K", 15)
    holder = _acquire(tmp_path)
    opened = os.open

    def open_just_before_it_is_given_back(path: Path, flags: int, mode: int = 0o777) -> int:
        descriptor = opened(path, flags, mode)
        holder.release()
        return descriptor

    monkeypatch.setattr(os, "open", open_just_before_it_is_given_back)
    with _acquire(tmp_path / "next"):
        assert [each.run for each in leases()] == [tmp_path / "next"]


def test_addresses_that_something_else_listens_on_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leasing, "FIRST_K", 10)
    monkeypatch.setattr(leasing, "LAST_K", 11)
    with socket.create_server(Addresses(10).toxiproxy), _acquire(tmp_path) as lease:
        assert lease.addresses == Addresses(11)
        assert [path.name for path in leasing.state_folder().iterdir()] == ["11.lease"]


def test_when_all_addresses_are_taken_the_error_names_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leasing, "FIRST_K", 12)
    monkeypatch.setattr(leasing, "LAST_K", 12)
    with _acquire(tmp_path), pytest.raises(InfrastructureError, match="fencepost clean"):
        _acquire(tmp_path)


def test_every_listener_is_tried_before_a_lease_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leasing, "FIRST_K", 13)
    monkeypatch.setattr(leasing, "LAST_K", 14)
    with (
        socket.create_server(("127.13.0.4", 9090)),
        Lease.acquire(tmp_path, lambda addresses: [Endpoint(addresses.node(4), 9090)]) as lease,
    ):
        assert lease.addresses.k == 14
