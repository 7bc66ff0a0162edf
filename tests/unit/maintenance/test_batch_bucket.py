"""The bucket of batches: the requests of each call, and the refusals that are only temporary."""

from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError
from moto import mock_aws

from gridview.maintenance.batch_bucket import BatchBucket
from gridview.support import aws
from gridview.support.errors import Overloaded

BUCKET = "failed-batches"


@mock_aws
def test_objects_are_put_listed_read_and_removed() -> None:
    aws.client("s3").create_bucket(Bucket=BUCKET)
    batches = BatchBucket(BUCKET)
    assert batches.names() == []
    for name, content in (("b", b"1"), ("a", b"2"), ("a", b"3")):
        batches.put(name, content)
    assert batches.names() == ["a", "b"]
    assert (batches.read("a"), batches.read("b")) == (b"3", b"1")
    assert aws.client("s3").head_object(Bucket=BUCKET, Key="a")["ContentType"] == "application/json"
    for _ in range(2):
        batches.remove("a")
    assert batches.names() == ["b"]
    assert batches.read("a") is None


def refused(code: str, status: int) -> ClientError:
    return ClientError(
        {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}},  # type: ignore[typeddict-item]
        "ListObjectsV2",
    )


@pytest.mark.parametrize(
    ("error", "is_for_the_moment"),
    [
        (refused("InternalError", 500), True),
        (refused("ServiceUnavailable", 503), True),
        (refused("SlowDown", 429), True),
        (ReadTimeoutError(endpoint_url="https://s3.invalid"), True),
        (refused("AccessDenied", 403), False),
        (refused("InvalidRequest", 499), False),
    ],
)
def test_a_bucket_that_cannot_be_reached_is_overloaded_and_any_other_refusal_is_raised(
    monkeypatch: pytest.MonkeyPatch, error: Exception, *, is_for_the_moment: bool
) -> None:
    class Client:
        def __getattr__(self, operation: str) -> Any:
            def call(**_: object) -> None:
                raise error

            return call

    monkeypatch.setattr(aws, "client", lambda *_: Client())
    batches = BatchBucket(BUCKET)
    for call in (batches.names, lambda: batches.read("a"), lambda: batches.remove("a")):
        with pytest.raises(Overloaded if is_for_the_moment else type(error)):
            call()
