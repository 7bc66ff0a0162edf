"""What the functions are told by their environment, checked when they start."""

import math
import os
import time

from aws_lambda_powertools.utilities.parameters import SecretsProvider
from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError

from gridview.encoding.cursors import Cursors

_SECRET_MAX_AGE = 300
"""Seconds for which a secret is kept: a rotation is known everywhere after that."""


class ConfigurationError(Exception):
    """The function's environment lacks something; raised when the function starts."""


def required(name: str) -> str:
    """An environment variable that must be there and not empty."""
    value = os.environ.get(name, "")
    if not value:
        raise ConfigurationError(f"The environment variable {name} is missing.")
    return value


def directory_seconds() -> float:
    """For how long directories of blocks are kept (GRIDVIEW_DIRECTORY_SECONDS, 3 by default): as late counts and filters may be."""
    try:
        seconds = float(os.environ.get("GRIDVIEW_DIRECTORY_SECONDS", "3"))
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise ConfigurationError(
            "The environment variable GRIDVIEW_DIRECTORY_SECONDS is not a number of seconds."
        )
    return seconds


class CursorSource:
    """The cursors of one purpose, under the secret that is current.

    From Secrets Manager (CURSOR_SECRET_ARN; the previous secret goes on being accepted after a rotation), or for a local stack
    from CURSOR_SECRET.
    """

    def __init__(self) -> None:
        local = os.environ.get("CURSOR_SECRET")
        self._secrets: tuple[bytes, ...] = (local.encode(),) if local else ()
        self._expires = math.inf if local else 0.0
        self._arn = "" if local else required("CURSOR_SECRET_ARN")
        self._cursors: dict[str, Cursors] = {}

    def cursors(self, purpose: str) -> Cursors:
        """The cursors of this purpose. Two calls to Secrets Manager every five minutes."""
        if time.time() >= self._expires:
            self._refresh()
        if purpose not in self._cursors:
            self._cursors[purpose] = Cursors(self._secrets, purpose)
        return self._cursors[purpose]

    def _refresh(self) -> None:
        try:
            self._secrets = _fetched(self._arn)
        except GetParameterError:
            if not self._secrets:
                raise
            # Those at hand are good: better a rotation known late than pages refused.
        self._expires = time.time() + _SECRET_MAX_AGE
        self._cursors = {}


def _fetched(arn: str) -> tuple[bytes, ...]:
    # Powertools caches by name alone, so both versions would be one to it: what is kept is kept here.
    provider = SecretsProvider()
    current = str(provider.get(arn, force_fetch=True))
    try:
        previous = str(provider.get(arn, force_fetch=True, VersionStage="AWSPREVIOUS"))
    except GetParameterError as error:
        if "ResourceNotFoundException" not in str(error):
            raise
        return (current.encode(),)  # never rotated
    return (current.encode(), previous.encode())
