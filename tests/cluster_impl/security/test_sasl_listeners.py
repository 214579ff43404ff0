"""SASL/PLAIN over real sockets: what a listener with users accepts, and how it refuses."""

from __future__ import annotations

import asyncio
import logging
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import Connection, LoginRefused
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.framing import encode_request
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.login import AuthenticationFailed, PlainLogin
from fencepost.cluster_impl.wire.registry import KAFKA
from fencepost.cluster_impl.wire.sasl import PlainUsers, plain_token
from fencepost.cluster_impl.wire.server import Request, Server

ALICE = PlainLogin("alice", "hers")
USERS = PlainUsers({"alice": "hers", "bob": "his"})
TIMEOUT_S = 30.0


def principal_of(request: Request) -> Message:
    """Answer with the principal of the sender."""
    return m.MetadataResponse(cluster_id=request.principal)


@asynccontextmanager
async def serving(users: PlainUsers | None = USERS) -> AsyncIterator[int]:
    server = Server(KAFKA, {3: principal_of})
    try:
        yield await server.listen("127.0.0.1", 0, "SECURE", users)
    finally:
        await server.close()


async def connect(port: int, login: PlainLogin | None = None) -> Connection:
    return await Connection.open("127.0.0.1", port, KAFKA, "tester", hosts=Hosts(), timeout=TIMEOUT_S, login=login)


async def principal(connection: Connection) -> str | None:
    return (await connection.request(m.MetadataRequest(topics=None), 9, timeout=TIMEOUT_S)).cluster_id


async def versions(connection: Connection) -> set[int]:
    response = await connection.request(m.ApiVersionsRequest(), 3, timeout=TIMEOUT_S)
    return {api.api_key for api in response.api_keys}


def token(text: bytes) -> m.SaslAuthenticateRequest:
    return m.SaslAuthenticateRequest(auth_bytes=text)


async def test_handlers_see_the_principal() -> None:
    async with serving() as port:
        assert await principal(await connect(port, ALICE)) == "User:alice"
        assert await principal(await connect(port, PlainLogin("bob", "his"))) == "User:bob"
    async with serving(users=None) as port:
        assert await principal(await connect(port)) == "User:ANONYMOUS"


async def test_a_listener_with_users_tells_its_versions_to_anybody_and_how_to_log_in() -> None:
    async with serving() as port:
        stranger = await connect(port)
        assert await versions(stranger) == {3, 17, 18, 36}
        assert await versions(await connect(port, ALICE)) == {3, 17, 18, 36}
    async with serving(users=None) as port:
        assert await versions(await connect(port)) == {3, 18}


async def test_a_request_before_the_login_closes_the_connection_with_a_message(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        async with serving() as port:
            with pytest.raises(ConnectionError, match="the other side closed"):
                await principal(await connect(port))
    (record,) = caplog.records
    assert record.getMessage().endswith("on SECURE: Metadata was sent before the login")


@pytest.mark.parametrize("login", [PlainLogin("alice", "wrong"), PlainLogin("carol", "hers"), PlainLogin("alice", "")])
async def test_a_wrong_password_gets_error_58_and_the_connection_is_closed(
    caplog: pytest.LogCaptureFixture, login: PlainLogin
) -> None:
    with caplog.at_level(logging.WARNING):
        async with serving() as port:
            with pytest.raises(LoginRefused, match=f"refused the login of {login.username}: Authentication failed"):
                await connect(port, login)
            raw = await connect(port)
            await raw.request(m.SaslHandshakeRequest(mechanism="PLAIN"), 1, timeout=TIMEOUT_S)
            answer = await raw.request(token(plain_token(login)), 2, timeout=TIMEOUT_S)
            assert answer.error_code == 58
            with pytest.raises(ConnectionError):
                await principal(raw)
    assert len(caplog.records) == 2
    assert all("on SECURE: authentication failed: " in record.getMessage() for record in caplog.records)


async def test_another_mechanism_gets_error_33_and_the_one_that_is_enabled(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        async with serving() as port:
            raw = await connect(port)
            answer = await raw.request(m.SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 1, timeout=TIMEOUT_S)
            assert (answer.error_code, answer.mechanisms) == (33, ["PLAIN"])
            with pytest.raises(ConnectionError):
                await principal(raw)
    (record,) = caplog.records
    assert "asks for the SASL mechanism 'SCRAM-SHA-256', and only PLAIN is enabled" in record.getMessage()


@pytest.mark.parametrize("version", [0, 1, 2])
async def test_every_version_of_authenticate_is_accepted_after_the_handshake(version: int) -> None:
    async with serving() as port:
        raw = await connect(port)
        await raw.request(m.SaslHandshakeRequest(mechanism="PLAIN"), 1, timeout=TIMEOUT_S)
        answer = await raw.request(token(plain_token(ALICE)), version, timeout=TIMEOUT_S)
        assert (answer.error_code, answer.error_message, answer.auth_bytes) == (0, None, b"")
        assert await principal(raw) == "User:alice"


async def test_out_of_turn_is_error_34_which_a_known_client_survives() -> None:
    async with serving() as port:
        known = await connect(port, ALICE)
        handshake = m.SaslHandshakeRequest(mechanism="PLAIN")
        for _ in range(2):
            assert (await known.request(token(b"\0bob\0his"), 2, timeout=TIMEOUT_S)).error_code == 34
            assert (await known.request(handshake, 1, timeout=TIMEOUT_S)).error_code == 34
        assert await principal(known) == "User:alice"
        stranger = await connect(port)
        assert (await stranger.request(token(plain_token(ALICE)), 2, timeout=TIMEOUT_S)).error_code == 34
        with pytest.raises(ConnectionError):
            await principal(stranger)


def framed(payload: bytes) -> bytes:
    return struct.pack(">i", len(payload)) + payload


@pytest.mark.parametrize("accepted", [True, False])
async def test_after_version_0_of_the_handshake_the_token_is_a_frame_of_its_own(accepted: bool) -> None:
    async def test() -> None:
        async with serving() as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            handshake = m.SaslHandshakeRequest(mechanism="PLAIN")
            writer.write(b"".join(encode_request(KAFKA[17], 0, 1, "raw", handshake)))
            writer.write(framed(b"\0alice\0hers" if accepted else b"\0alice\0his"))
            metadata = m.MetadataRequest(topics=None)
            writer.write(b"".join(encode_request(KAFKA[3], 4, 2, "raw", metadata)))
            (size,) = struct.unpack(">i", await reader.readexactly(4))
            assert m.SaslHandshakeResponse.decode((await reader.readexactly(size))[4:], 0).error_code == 0
            if not accepted:
                assert await reader.read() == b""
                return
            assert await reader.readexactly(4) == struct.pack(">i", 0)
            (size,) = struct.unpack(">i", await reader.readexactly(4))
            response = m.MetadataResponse.decode((await reader.readexactly(size))[4:], 4)
            assert response.cluster_id == "User:alice"
            writer.close()

    await test()


async def test_a_stranger_may_send_no_large_frame(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        async with serving() as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(struct.pack(">i", 600_000))
            assert await reader.read() == b""
            writer.close()
            known = await connect(port, ALICE)
            large = m.MetadataRequest(
                topics=[m.MetadataRequest.MetadataRequestTopic(name="t" * 600) for _ in range(1000)]
            )
            assert (await known.request(large, 9, timeout=TIMEOUT_S)).cluster_id == "User:alice"
    (record,) = caplog.records
    assert "a frame claims 600000 bytes, the limit is 524288" in record.getMessage()


async def test_a_login_at_a_listener_without_logins_fails_with_a_message() -> None:
    async with serving(users=None) as port:
        with pytest.raises(ConnectionError, match="did not answer SaslHandshake v1: the other side closed"):
            await connect(port, ALICE)


async def test_a_login_ends_with_the_deadline_of_opening() -> None:
    held: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(lambda _, writer: held.append(writer), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    with pytest.raises(TimeoutError, match="did not answer SaslHandshake v1"):
        await Connection.open("127.0.0.1", port, KAFKA, "tester", hosts=Hosts(), timeout=0.1, login=ALICE)
    for writer in held:
        writer.close()
    server.close()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"alice", "not one of PLAIN"),
        (b"\0a\0b\0c", "not one of PLAIN"),
        (b"\0\xff\0hers", "not UTF-8"),
        (b"\0\0hers", "lacks a name"),
        (b"\0alice\0", "lacks a name or a password"),
        (b"bob\0alice\0hers", "alice asks for the rights of bob"),
        (b"\0alice\0Hers", "the name 'alice' or its password is wrong"),
    ],
)
def test_a_token_that_proves_nothing_is_refused_with_a_reason(text: bytes, reason: str) -> None:
    with pytest.raises(AuthenticationFailed, match=reason):
        USERS.principal(text)


def test_a_client_may_give_its_own_name_as_authorization_id() -> None:
    assert USERS.principal(b"alice\0alice\0hers") == "User:alice"
