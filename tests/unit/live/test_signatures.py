"""Signatures: the vectors of Standard Webhooks, and the signatures that a receiver's own verification accepts and
refuses.
"""

import base64
import re

import pytest

from gridview.live.signatures import new_secret, signature, signed_headers

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.mark.parametrize(
    ("secret", "message", "timestamp", "body", "expected"),
    [
        # The vector of the libraries of Standard Webhooks.
        (
            SECRET,
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1614265330,
            b'{"test": 2432232314}',
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        ),
        # By OpenSSL: printf %s 'ID.TIME.BODY' | openssl dgst -sha256 -mac HMAC -macopt hexkey:... -binary | base64
        (
            "whsec_" + base64.b64encode(b"Jefe" * 8).decode(),
            "w3k9q2m7x1c0z_17_3",
            1795248000,
            '{"name":"Brücke ␁"}'.encode(),
            "v1,lzPDLQKi6NjZ6n9bgIhvhVuw15ORfJuzhqRZEDa3Qyw=",
        ),
    ],
)
def test_a_signature_is_the_one_of_the_standard(
    secret: str, message: str, timestamp: int, body: bytes, expected: str
) -> None:
    assert signature(secret, message, timestamp, body) == expected


def test_every_part_of_a_message_is_signed() -> None:
    headers = {
        signature(SECRET, *parts)
        for parts in (
            ("a", 1, b"x"),
            ("b", 1, b"x"),
            ("a", 2, b"x"),
            ("a", 1, b"y"),
            ("a", 11, b"x"),
            ("a", 1, b""),
        )
    }
    assert len(headers) == 6
    assert signature(new_secret(), "a", 1, b"x") not in headers


def test_the_headers_have_a_signature_by_each_secret_in_order() -> None:
    other = new_secret()
    headers = signed_headers((SECRET, other), "w_1_1", 1795248000, b"{}")
    assert headers == {
        "webhook-id": "w_1_1",
        "webhook-timestamp": "1795248000",
        "webhook-signature": f"{signature(SECRET, 'w_1_1', 1795248000, b'{}')} {signature(other, 'w_1_1', 1795248000, b'{}')}",
    }


def test_a_secret_has_256_bits_and_is_another_each_time() -> None:
    made = {new_secret() for _ in range(100)}
    assert len(made) == 100
    for secret in made:
        assert re.fullmatch(r"whsec_[A-Za-z0-9+/]+=*", secret)
        assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 32
