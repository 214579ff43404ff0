"""Kafka's JAAS text for SASL/PLAIN."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.security.jaas import LOGIN_MODULE, PlainModule
from fencepost.cluster_impl.wire.login import PlainLogin


def test_a_module_names_the_login_of_the_node_and_the_users_of_the_listener() -> None:
    module = PlainModule.parse(
        f'{LOGIN_MODULE} required username="broker" password="secret" user_broker="secret" user_alice="hers";'
    )
    assert module.login == PlainLogin("broker", "secret")
    assert module.passwords == {"broker": "secret", "alice": "hers"}


def test_a_listener_for_clients_needs_no_login_of_the_node() -> None:
    module = PlainModule.parse(f'{LOGIN_MODULE} required user_alice="hers";')
    assert module.login is None
    assert module.passwords == {"alice": "hers"}


def test_a_module_without_users_lets_no_client_in() -> None:
    assert PlainModule.parse(f"{LOGIN_MODULE} required;") == PlainModule(None, {})


@pytest.mark.parametrize(
    ("options", "password"),
    [
        ('user_a="two words"', "two words"),
        ("user_a='it is \"quoted\"'", 'it is "quoted"'),
        (r'user_a="a \"quote\" and a \\"', 'a "quote" and a \\'),
        ("user_a=bare", "bare"),
        ('user_a = "spaced"', "spaced"),
        ('user_a="semi;colon=sign"', "semi;colon=sign"),
        ('\n  user_a="on a line of its own"\n', "on a line of its own"),
        ('user_a=""', ""),
    ],
)
def test_values_may_be_quoted_as_java_does(options: str, password: str) -> None:
    assert PlainModule.parse(f"{LOGIN_MODULE} required {options};").passwords == {"a": password}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "must end with a semicolon"),
        (";", "must begin with org.apache"),
        (f"{LOGIN_MODULE};", "must begin with org.apache"),
        ("org.apache.kafka.common.security.scram.ScramLoginModule required;", "must begin with org.apache"),
        (f'{LOGIN_MODULE} username="a" password="b";', "must have one of optional, required"),
        (f'{LOGIN_MODULE} required username="a" password="b"', "must end with a semicolon"),
        (f'{LOGIN_MODULE} required user_a="open;', "a quotation mark that is not closed"),
        (f"{LOGIN_MODULE} required; {LOGIN_MODULE} required;", "only one login module"),
        (f'{LOGIN_MODULE} required username="a";', "username and password together"),
        (f'{LOGIN_MODULE} required password="b";', "username and password together"),
        (f"{LOGIN_MODULE} required user_a;", "which user_a is not"),
        (f"{LOGIN_MODULE} required user_a is hers;", "which user_a is not"),
        (f"{LOGIN_MODULE} required user_a=1 user_a=2;", "gives the option user_a twice"),
        (f"{LOGIN_MODULE} required serviceName=kafka;", "holds the option serviceName"),
    ],
)
def test_what_is_no_such_module_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        PlainModule.parse(text)


def test_passwords_are_not_shown() -> None:
    module = PlainModule.parse(f'{LOGIN_MODULE} required username="broker" password="secret" user_alice="hers";')
    assert "secret" not in repr(module)
    assert "hers" not in repr(module)
