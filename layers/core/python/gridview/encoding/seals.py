"""Seals: bytes that a client can only hand back unchanged, and only for the same purpose.

    base64url( key id (4 bytes) | AES-SIV(content, bound to purpose and context) )

AES-SIV (RFC 5297) needs no nonce, so a nonce cannot be reused by accident. The same content in the same
context gives the same text. HKDF derives one key per purpose from one secret, and the key id too, so rotating
the secret rotates the keys. Texts sealed under the previous secret open as long as that secret is supplied.
"""

import base64
from collections.abc import Sequence
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_KEY_ID_BYTES = 4


class Sealing(Protocol):
    """Seals and opens texts of one purpose, as `Seals` does."""

    def seal(self, content: bytes, bound_to: bytes) -> str:
        """Return a text that holds `content` and opens only with the same `bound_to`."""

    def open(self, text: str, bound_to: bytes) -> bytes:
        """Return the content. ValueError unless it was sealed for this purpose and `bound_to`."""


class Seals:
    """Seals and opens texts of one purpose. `secrets`: the current one first, then the older ones still accepted."""

    def __init__(self, secrets: Sequence[bytes], purpose: str) -> None:
        self._purpose = purpose.encode()
        derived = [(_derive(secret, b"key id", _KEY_ID_BYTES), secret) for secret in secrets]
        self._current = derived[0][0]
        self._keys = {
            key_id: AESSIV(_derive(secret, b"cursor " + self._purpose, 64))
            for key_id, secret in reversed(derived)
        }

    def seal(self, content: bytes, bound_to: bytes) -> str:
        """Return a text that holds `content` and opens only with the same `bound_to`."""
        sealed = self._keys[self._current].encrypt(content, [self._purpose, bound_to])
        return base64.urlsafe_b64encode(self._current + sealed).rstrip(b"=").decode()

    def is_current(self, text: str) -> bool:
        """Return whether a sealed text is under the current secret. ValueError: it is no base64."""
        return _raw(text)[:_KEY_ID_BYTES] == self._current

    def open(self, text: str, bound_to: bytes) -> bytes:
        """Return the content. ValueError unless it was sealed for this purpose and `bound_to`, and is
        unchanged to the letter.
        """
        raw = _raw(text)
        if base64.urlsafe_b64encode(raw).rstrip(b"=").decode() != text:
            raise ValueError("not the spelling that sealing returns")
        try:
            key = self._keys[raw[:_KEY_ID_BYTES]]
            return key.decrypt(raw[_KEY_ID_BYTES:], [self._purpose, bound_to])
        except (KeyError, InvalidTag):
            raise ValueError("not sealed for this purpose and owner") from None


def _raw(text: str) -> bytes:
    return base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))


def _derive(secret: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=SHA256(), length=length, salt=None, info=b"gridview " + info).derive(secret)
