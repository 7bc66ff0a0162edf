"""The errors of AWS and of the core in an operator's command, as one sentence each."""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError

from devtools.failure import Failure
from gridview.support.errors import RequestError


@contextmanager
def reported(advice: str = "") -> Iterator[None]:
    """Turn these errors into a Failure: missing rights, an expired session, a busy table. Also a decorator."""
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise Failure(f"AWS cannot be used: {error}{advice}") from error
    except RequestError as error:
        raise Failure(f"{error.detail}{advice}") from error
