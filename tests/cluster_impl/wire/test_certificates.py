"""The user that a certificate names."""

import pytest

from fencepost.cluster_impl.wire.login import certificate_principal


@pytest.mark.parametrize(
    ("subject", "principal"),
    [
        ((), "User:ANONYMOUS"),
        (((("commonName", "alice"),),), "User:CN=alice"),
        (
            ((("countryName", "DE"),), (("organizationName", "a, b"),), (("commonName", "x"),)),
            "User:CN=x,O=a\\, b,C=DE",
        ),
    ],
)
def test_a_principal_is_the_subject_last_part_first(subject: object, principal: str) -> None:
    assert certificate_principal({"subject": subject}) == principal
