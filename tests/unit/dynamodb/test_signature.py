"""Signatures: those that botocore's own signer makes of the same requests."""

from datetime import UTC, datetime

import pytest
from botocore import auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from gridview.dynamodb.signature import CONTENT_TYPE, Host, Secret, signed_headers

INSTANT = datetime(2023, 5, 1, 12, 34, 56, tzinfo=UTC)


@pytest.mark.parametrize("token", [None, "a/session+token=="])
@pytest.mark.parametrize(
    "host",
    [Host("dynamodb.eu-west-1.amazonaws.com", "eu-west-1"), Host("127.0.0.1:8000", "us-east-1")],
    ids=str,
)
@pytest.mark.parametrize("body", [b"{}", '{"Item":{"name":{"S":"Brücke"}}}'.encode()])
def test_a_signature_is_that_of_botocore(
    monkeypatch: pytest.MonkeyPatch, host: Host, token: str | None, body: bytes
) -> None:
    monkeypatch.setattr(auth, "get_current_datetime", lambda: INSTANT)
    target = {"Content-Type": CONTENT_TYPE, "X-Amz-Target": "DynamoDB_20120810.PutItem"}
    theirs = AWSRequest("POST", f"https://{host.name}/", data=body, headers=dict(target))
    auth.SigV4Auth(Credentials("key", "secret", token), "dynamodb", host.region).add_auth(theirs)
    ours = signed_headers(host, "PutItem", body, Secret("key", "secret", token), "20230501T123456Z")
    assert ours == {**dict(theirs.headers.items()), "Host": host.name}
