"""The bucket of failed and waiting batches."""

from functools import cached_property
from typing import Any, Final, Protocol

from gridview.support import aws
from gridview.support.errors import Overloaded

_GONE: Final = {"NoSuchKey", "404"}


class Batches(Protocol):
    """Objects by name. Each method raises Overloaded if the bucket cannot be reached for the moment."""

    def put(self, name: str, content: bytes) -> None:
        """Put an object, whole, over any other of its name."""

    def read(self, name: str) -> bytes | None:
        """Return the content of an object; None if it is gone."""

    def remove(self, name: str) -> None:
        """Remove an object; nothing happens if it is gone."""

    def names(self) -> list[str]:
        """Return the first 1,000 names, sorted."""


class BatchBucket:
    """`Batches` in S3: one request for each call."""

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket

    @cached_property
    def _s3(self) -> Any:
        """Made at the first call: few containers of the consumer ever hand over a batch."""
        return aws.client("s3", aws.FOR_FILES)

    def put(self, name: str, content: bytes) -> None:
        """As for `Batches`."""
        self._call("put_object", Key=name, Body=content, ContentType="application/json")

    def read(self, name: str) -> bytes | None:
        """As for `Batches`."""
        try:
            content: bytes = self._call("get_object", Key=name)["Body"].read()
        except aws.FAILURES as error:
            if aws.refusal(error)[0] in _GONE:
                return None
            raise
        return content

    def remove(self, name: str) -> None:
        """As for `Batches`."""
        self._call("delete_object", Key=name)

    def names(self) -> list[str]:
        """As for `Batches`."""
        return [str(found["Key"]) for found in self._call("list_objects_v2").get("Contents", [])]

    def _call(self, operation: str, **parameters: Any) -> Any:
        try:
            return getattr(self._s3, operation)(Bucket=self._bucket, **parameters)
        except aws.FAILURES as error:
            code, status = aws.refusal(error)
            if not status or status >= 500 or code == "SlowDown":
                raise Overloaded("The bucket of batches cannot be reached; try again.") from error
            raise
