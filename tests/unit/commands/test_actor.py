"""The actor of a token, and the tokens that are refused."""

from typing import Any

import pytest

from gridview.commands.actor import Actor, Role, from_claims
from gridview.support.errors import Forbidden, Unauthenticated

CLAIMS = {"token_use": "id", "sub": "ann", "custom:tenant": "0807", "custom:role": "editor"}


def test_an_id_token_names_tenant_user_and_role() -> None:
    assert from_claims({**CLAIMS, "aud": "anything"}) == Actor("0807", "ann", Role.EDITOR)


@pytest.mark.parametrize("name", sorted(CLAIMS))
def test_a_missing_claim_is_unauthenticated(name: str) -> None:
    with pytest.raises(Unauthenticated):
        from_claims({key: value for key, value in CLAIMS.items() if key != name})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("token_use", "access"),
        ("token_use", "ID"),
        ("custom:tenant", ""),
        ("custom:tenant", "a"),
        ("custom:tenant", "a" * 33),
        ("custom:tenant", "0807.35e9"),
        ("custom:tenant", "ACME"),
        ("custom:tenant", "0807\n"),
        ("custom:tenant", "08-07"),
        ("custom:tenant", 807),
        ("custom:role", "owner"),
        ("custom:role", "Admin"),
        ("custom:role", ""),
        ("custom:role", None),
        ("sub", ""),
        ("sub", "a b"),
        ("sub", "ann\n"),
        ("sub", "\u00e4nn"),
        ("sub", "a" * 129),
        ("sub", 7),
        ("sub", "former-user"),
    ],
)
def test_a_wrong_claim_is_unauthenticated(name: str, value: Any) -> None:
    with pytest.raises(Unauthenticated):
        from_claims({**CLAIMS, name: value})


@pytest.mark.parametrize("has", Role)
@pytest.mark.parametrize("needs", Role)
def test_a_role_may_do_what_the_roles_below_it_may(has: Role, needs: Role) -> None:
    actor = Actor("0807", "ann", has)
    if has >= needs:
        actor.require(needs)
    else:
        with pytest.raises(Forbidden, match=needs.name.lower()):
            actor.require(needs)
