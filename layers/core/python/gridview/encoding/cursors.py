"""Cursors: a place in a result, sealed so that a client can only hand it back unchanged and to the same query.

    base64url( key id (4 bytes) | AES-SIV(payload, bound to purpose and query) )

AES-SIV (RFC 5297) needs no nonce, so a nonce cannot be reused by accident. The same place in the same query gives the same cursor.
HKDF derives one key per purpose from one secret, and the key id too, so rotating the secret rotates the keys. Cursors under the
previous secret keep working as long as that secret is supplied.
"""

import base64
import binascii
from collections.abc import Sequence

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from gridview.support.errors import FieldError, InvalidRequest

_KEY_ID_BYTES = 4
_MAX_LENGTH = 16_384
"""Characters of a cursor: up to three values of at most 1,024 bytes, which JSON and base64 expand."""


class Cursors:
    """Seals and opens cursors of one purpose. `secrets`: the current one first, then the older ones still accepted."""

    def __init__(self, secrets: Sequence[bytes], purpose: str) -> None:
        self._purpose = purpose.encode()
        derived = [(_derive(secret, b"key id", _KEY_ID_BYTES), secret) for secret in secrets]
        self._current = derived[0][0]
        self._keys = {
            key_id: AESSIV(_derive(secret, b"cursor " + self._purpose, 64))
            for key_id, secret in reversed(derived)
        }

    def seal(self, payload: object, bound_to: bytes) -> str:
        """A cursor that holds `payload` (any JSON value) and opens only with the same `bound_to`."""
        sealed = self._keys[self._current].encrypt(orjson.dumps(payload), [self._purpose, bound_to])
        return base64.urlsafe_b64encode(self._current + sealed).rstrip(b"=").decode()

    def open(self, cursor: str, bound_to: bytes) -> object:
        """The payload. InvalidRequest unless it was sealed for this purpose and `bound_to`, and is unchanged to the letter."""
        try:
            if len(cursor) > _MAX_LENGTH:
                raise ValueError
            raw = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
            if base64.urlsafe_b64encode(raw).rstrip(b"=").decode() != cursor:
                raise ValueError  # another spelling of the same bytes
            key = self._keys[raw[:_KEY_ID_BYTES]]
            return orjson.loads(key.decrypt(raw[_KEY_ID_BYTES:], [self._purpose, bound_to]))
        except (binascii.Error, ValueError, KeyError, InvalidTag):
            raise InvalidRequest(
                "The cursor does not belong to this query.",
                [FieldError("cursor", "does not belong to this query")],
            ) from None


def _derive(secret: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=SHA256(), length=length, salt=None, info=b"gridview " + info).derive(secret)
