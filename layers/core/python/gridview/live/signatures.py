"""The signatures of webhooks, as Standard Webhooks 1.0 defines them: HMAC-SHA256 over a message's id, time
and body. Pure.

    webhook-id: w3k9q2m7x1c0z_17_3
    webhook-timestamp: 1795248000
    webhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4= v1,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe4=

The signed content is `id.timestamp.body`. The key is the part of the secret after `whsec_`, decoded. No id
has a full stop, so no two messages have the same content. While a secret is being replaced there is a
signature by each, and one that fits suffices.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable

_PREFIX = "whsec_"
_SECRET_BYTES = 32


def new_secret() -> str:
    """Return a random secret of 256 bits, as a receiver is given it."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the signature of a message by one secret: `v1,` and base64."""
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    signed = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def signed_headers(keys: Iterable[str], message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the headers of a message that is sent at `timestamp` (seconds since 1970), with a signature by
    each of these secrets.
    """
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signature(key, message_id, timestamp, body) for key in keys),
    }
