"""The secrets of the functions' seals: two of Secrets Manager, each cached with the value before its last
rotation.

One secret seals the texts that clients hand back (cursors, consistency tokens, tickets). The other seals the
secrets of webhooks, which are stored.
"""

import math
import os
import time
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final, NamedTuple

from gridview.api.config import required
from gridview.encoding import consistency
from gridview.encoding.consistency import ConsistencyTokens
from gridview.encoding.cursors import Cursors
from gridview.encoding.seals import Seals
from gridview.schema.history import FEED_DAYS
from gridview.support import aws

MAX_AGE: Final = 300.0
"""Seconds for which a secret is cached: every function knows a rotation after that."""

SECRETS: Final = "webhook secrets"
"""The purpose of the seals of the secrets of webhooks."""

_DAY: Final = 86_400.0

_CURSOR_SECONDS: Final = {"changes": FEED_DAYS * _DAY}
"""Seconds for which the cursors of a purpose live. Others lead through a result that someone looks at: a day."""


class SecretValues(NamedTuple):
    """A secret: its value `since` an instant (seconds since 1970), and the one before; None: it was never rotated."""

    current: bytes
    previous: bytes | None = None
    since: float = 0.0

    def all(self) -> tuple[bytes, ...]:
        """Both values, the current one first."""
        return (self.current,) if self.previous is None else (self.current, self.previous)

    def opening(self, lives: float, now: float) -> tuple[bytes, ...]:
        """Return the values that open texts that live for so many seconds, the current one first.

        For `MAX_AGE` seconds after a rotation some functions still seal with the value before.
        """
        over = now >= self.since + MAX_AGE + lives
        return (self.current,) if over else self.all()


class CursorSource:
    """The cursors and tickets of each purpose and the consistency tokens, under the current secret.

    The secret comes from Secrets Manager (CURSOR_SECRET_ARN), or from CURSOR_SECRET in a local stack. After a
    rotation the value before opens each of these for as long as it lives.
    """

    def __init__(self) -> None:
        self._secret = _Secret("CURSOR_SECRET")

    def prime(self) -> None:
        """Read the secret before the first request needs it. If that fails, the request tries again."""
        self._secret.prime()

    def cursors(self, purpose: str) -> Cursors:
        """Return the cursors of this purpose. Makes two calls to Secrets Manager every five minutes."""
        return _cursors(self._opening(_CURSOR_SECONDS.get(purpose, _DAY)), purpose)

    def tokens(self) -> ConsistencyTokens:
        """Return the consistency tokens. Calls Secrets Manager as `cursors` does."""
        return _tokens(self._opening(consistency.SECONDS))

    def seals(self, purpose: str, lives: float) -> Seals:
        """Return the seals of this purpose, of texts that live for so many seconds. Calls Secrets Manager as
        `cursors` does.
        """
        return _seals(self._opening(lives), purpose)

    def _opening(self, lives: float) -> tuple[bytes, ...]:
        return self._secret.values(keep=True).opening(lives, time.time())


class WebhookSeals:
    """Return the seals of the secrets of webhooks, under the current secret. Secrets sealed under the value
    before it open too.

    The secret comes from Secrets Manager (WEBHOOK_SECRET_ARN), or from WEBHOOK_SECRET in a local stack. It is
    never used for longer than `MAX_AGE` after it was read: a rotation relies on that (`live.resealing`).
    """

    def __init__(self) -> None:
        self._secret = _Secret("WEBHOOK_SECRET")

    def prime(self) -> None:
        """Read the secret before the first webhook needs it. If that fails, the webhook tries again."""
        self._secret.prime()

    def seal(self, content: bytes, bound_to: bytes) -> str:
        """Return a text that holds `content` and opens only with the same `bound_to`. Makes two calls every
        five minutes.
        """
        return self._seals().seal(content, bound_to)

    def open(self, text: str, bound_to: bytes) -> bytes:
        """Return the content. ValueError unless it was sealed for `bound_to`.

        A text that does not open may be sealed under a secret that was rotated a moment ago. So the secret is
        read again: two calls.
        """
        try:
            return self._seals().open(text, bound_to)
        except ValueError:
            self._secret.expire()
            return self._seals().open(text, bound_to)

    def _seals(self) -> Seals:
        return _seals(self._secret.values(keep=False).all(), SECRETS)


class _Secret:
    """A secret by the name of its variable: NAME_ARN leads to Secrets Manager, NAME is the value itself in a
    local stack.
    """

    def __init__(self, name: str) -> None:
        local = os.environ.get(name)
        self._values = SecretValues(local.encode()) if local else None
        self._expires = math.inf if local else 0.0
        self._arn = "" if local else required(f"{name}_ARN")

    def prime(self) -> None:
        """Read the secret, unless that fails."""
        with suppress(*aws.FAILURES):
            self.values(keep=False)

    def expire(self) -> None:
        """Have the secret read again when it is next needed."""
        if self._arn:
            self._expires = 0.0

    def values(self, *, keep: bool) -> SecretValues:
        """Return the values, at most `MAX_AGE` seconds old. If they cannot be read: the present ones if
        `keep`, else raises the error of AWS.
        """
        now = time.time()
        if self._values is None or now >= self._expires:
            try:
                self._values = fetched(aws.client("secretsmanager"), self._arn)
            except aws.FAILURES:
                # A rotation noticed late is better than refused pages.
                if self._values is None or not keep:
                    raise
            self._expires = now + MAX_AGE
        return self._values


def fetched(client: Any, arn: str) -> SecretValues:
    """Return the values of a secret, by two calls. Raises the errors of AWS."""
    found = client.get_secret_value(SecretId=arn)
    current, since = found["SecretString"].encode(), found["CreatedDate"].timestamp()
    try:
        previous = client.get_secret_value(SecretId=arn, VersionStage="AWSPREVIOUS")["SecretString"]
    except client.exceptions.ResourceNotFoundException:
        return SecretValues(current, None, since)  # never rotated
    return SecretValues(current, previous.encode(), since)


@lru_cache(maxsize=64)
def _cursors(secrets: tuple[bytes, ...], purpose: str) -> Cursors:
    return Cursors(secrets, purpose)


@lru_cache(maxsize=4)
def _tokens(secrets: tuple[bytes, ...]) -> ConsistencyTokens:
    return ConsistencyTokens(secrets)


@lru_cache(maxsize=8)
def _seals(secrets: tuple[bytes, ...], purpose: str) -> Seals:
    return Seals(secrets, purpose)
