"""Signatures: the same as botocore's own signer makes of the same requests."""

from datetime import UTC, datetime

import pytest
from botocore import auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from gridview.support.signature import Host, Secret, Signable, signed_headers

INSTANT = datetime(2023, 5, 1, 12, 34, 56, tzinfo=UTC)
DYNAMODB = Host("dynamodb.eu-west-1.amazonaws.com", "eu-west-1", "dynamodb")
SOCKETS = Host("a1b2.execute-api.eu-west-2.amazonaws.com", "eu-west-2", "execute-api")

PUT = {"X-Amz-Target": "DynamoDB_20120810.PutItem", "Content-Type": "application/x-amz-json-1.0"}
MESSAGE = {"Content-Type": "application/octet-stream"}
CONNECTION = "/live/@connections/L0SM9cOFvHcCIhw%3D"


@pytest.mark.parametrize("token", [None, "a/session+token=="])
@pytest.mark.parametrize(
    ("host", "request_"),
    [
        (DYNAMODB, Signable("POST", "/", PUT, b"{}")),
        (Host("127.0.0.1:8000", "us-east-1", "dynamodb"), Signable("POST", "/", PUT, "Brücke".encode())),
        (SOCKETS, Signable("POST", CONNECTION, MESSAGE, b'{"bye":"idle"}')),
        (SOCKETS, Signable("DELETE", CONNECTION, {}, b"")),
    ],
    ids=str,
)
def test_a_signature_is_that_of_botocore(
    monkeypatch: pytest.MonkeyPatch, host: Host, request_: Signable, token: str | None
) -> None:
    monkeypatch.setattr(auth, "get_current_datetime", lambda: INSTANT)
    method, path, headers, body = request_
    theirs = AWSRequest(method, f"https://{host.name}{path}", data=body, headers=dict(headers))
    auth.SigV4Auth(Credentials("key", "secret", token), host.service, host.region).add_auth(theirs)
    ours = signed_headers(host, request_, Secret("key", "secret", token), "20230501T123456Z")
    assert ours == {**dict(theirs.headers.items()), "Host": host.name}
