import base64
import json
import stat
import time
from pathlib import Path
from typing import Any

import jwt
import pytest

from devtools.failure import Failure
from devtools.local import tokens
from gridview.commands.actor import Role, from_claims

KEY = b"k" * 64


def signed(**changes: Any) -> dict[str, Any]:
    claims = {
        "iss": tokens.ISSUER,
        "aud": tokens.AUDIENCE,
        "sub": "ada",
        "token_use": "id",
        "custom:tenant": "0807",
        "custom:role": "viewer",
        "iat": int(time.time()),
        "exp": int(time.time()) + 60,
    }
    claims |= changes
    return {name: value for name, value in claims.items() if value is not None}


def test_an_issued_token_is_accepted_and_its_claims_are_strings() -> None:
    claims = tokens.claims_of(KEY, tokens.issue(KEY, tenant="0807", role="editor", user="ada"))
    assert claims["token_use"] == "id"
    assert claims["exp"].isdigit()
    assert all(isinstance(value, str) for value in claims.values())


@pytest.mark.parametrize("role", Role)
def test_the_core_takes_the_claims_for_an_actor(role: Role) -> None:
    token = tokens.issue(KEY, tenant="0807", role=role.name.lower(), user="ada")
    assert from_claims(tokens.claims_of(KEY, token)) == ("0807", "ada", role)


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": int(time.time()) - 1},
        {"exp": None},
        {"iat": None},
        {"iss": "http://elsewhere"},
        {"iss": None},
        {"aud": "other"},
        {"aud": None},
        {"nbf": int(time.time()) + 86_400},
    ],
)
def test_a_token_with_other_claims_is_refused(changes: Any) -> None:
    with pytest.raises(tokens.InvalidTokenError):
        tokens.claims_of(KEY, jwt.encode(signed(**changes), KEY, algorithm="HS256"))


def test_a_good_set_of_claims_is_what_the_refused_ones_deviate_from() -> None:
    assert tokens.claims_of(KEY, jwt.encode(signed(), KEY, algorithm="HS256"))["sub"] == "ada"


def test_another_key_algorithm_or_no_signature_is_refused() -> None:
    def part(value: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    unsigned = f"{part({'alg': 'none', 'typ': 'JWT'})}.{part(signed())}."
    foreign = jwt.encode(signed(), b"o" * 64, algorithm="HS256")
    other = jwt.encode(signed(), KEY, algorithm="HS512")
    for token in (unsigned, foreign, other, "", "x", "a.b.c"):
        with pytest.raises(tokens.InvalidTokenError):
            tokens.claims_of(KEY, token)


@pytest.mark.parametrize(
    "wrong",
    [
        {"tenant": "UPPER"},
        {"tenant": "a"},
        {"tenant": "a.b"},
        {"role": "owner"},
        {"role": "Viewer"},
        {"user": "a b"},
        {"user": ""},
    ],
)
def test_no_token_is_issued_for_what_the_api_would_refuse(wrong: dict[str, Any]) -> None:
    with pytest.raises(Failure):
        tokens.issue(KEY, **({"tenant": "0807", "role": "viewer", "user": "ada"} | wrong))


def test_the_secrets_of_a_folder_are_random_private_and_kept(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    secrets = [
        tokens.key_in(one),
        tokens.key_in(two),
        tokens.cursor_secret_in(one).encode(),
        tokens.webhook_secret_in(one).encode(),
    ]
    assert len(set(secrets)) == 4
    assert all(len(secret) >= 32 for secret in secrets)
    kept = [tokens.key_in(one), tokens.cursor_secret_in(one).encode(), tokens.webhook_secret_in(one).encode()]
    assert kept == [secrets[0], *secrets[2:]]
    assert {stat.S_IMODE(path.stat().st_mode) for path in one.iterdir()} == {0o600}
    assert {path.name for path in one.iterdir()} == {"token.key", "cursor.secret", "webhook.secret"}
