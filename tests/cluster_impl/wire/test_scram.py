"""Logins by SCRAM: the RFC's own example, and both sides against each other."""

from __future__ import annotations

import secrets

import pytest

from fencepost.cluster_impl.wire.login import AuthenticationFailed, PlainLogin
from fencepost.cluster_impl.wire.scram import ALGORITHMS, ScramClient, ScramServer, ScramUsers

ODD = "a=b,c"


def log_in(mechanism: str, login: PlainLogin, passwords: dict[str, str]) -> str | None:
    """Let both sides talk to each other; return the principal."""
    server, client = ScramServer(ScramUsers(mechanism, passwords)), ScramClient(mechanism, login)
    client.verify(server.step(client.final(server.step(client.first()))))
    return server.principal


@pytest.mark.requirement("D631-44")
@pytest.mark.parametrize("mechanism", ALGORITHMS)
@pytest.mark.parametrize("name", ["alice", ODD])
def test_a_user_with_the_right_password_logs_in(mechanism: str, name: str) -> None:
    assert log_in(mechanism, PlainLogin(name, "päss"), {name: "päss", "bob": "x"}) == f"User:{name}"


@pytest.mark.parametrize("login", [PlainLogin("alice", "wrong"), PlainLogin("carol", "hers"), PlainLogin("", "hers")])
def test_no_other_user_does(login: PlainLogin) -> None:
    with pytest.raises(AuthenticationFailed):
        log_in("SCRAM-SHA-256", login, {"alice": "hers"})


def test_the_client_of_the_rfcs_example_sends_its_proof_and_accepts_its_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """RFC 7677, section 3."""
    monkeypatch.setattr(secrets, "token_urlsafe", lambda _: "rOprNGfwEbeRWgbNEkqO")
    client = ScramClient("SCRAM-SHA-256", PlainLogin("user", "pencil"))
    assert client.first() == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    final = client.final(f"r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode())
    assert final == f"c=biws,r={nonce},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=".encode()
    client.verify(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")
    with pytest.raises(AuthenticationFailed, match="does not know the password"):
        client.verify(b"v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


@pytest.mark.parametrize(
    "token", [b"", b"\xff", b"p=tls-unique,,n=alice,r=x", b"n,,n=alice", b"n,a=bob,n=alice,r=x", b"n,,n=carol,r=x"]
)
def test_a_first_message_that_cannot_be_accepted_is_refused(token: bytes) -> None:
    with pytest.raises(AuthenticationFailed):
        ScramServer(ScramUsers("SCRAM-SHA-512", {"alice": "hers"})).step(token)


@pytest.mark.parametrize("change", [lambda t: t.replace(b",r=", b",r=x"), lambda t: t[:-8], lambda t: t + b"!"])
def test_a_changed_last_message_is_refused(change: object) -> None:
    server = ScramServer(ScramUsers("SCRAM-SHA-256", {"alice": "hers"}))
    client = ScramClient("SCRAM-SHA-256", PlainLogin("alice", "hers"))
    final = client.final(server.step(client.first()))
    with pytest.raises(AuthenticationFailed):
        server.step(change(final))  # type: ignore[operator]
    assert server.principal is None


def test_a_server_that_answers_another_login_is_not_trusted() -> None:
    client = ScramClient("SCRAM-SHA-256", PlainLogin("alice", "hers"))
    with pytest.raises(AuthenticationFailed, match="another login"):
        client.final(b"r=else,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096")
