"""Signs requests to DynamoDB: AWS's Signature Version 4 for the one form that they have, a body that is posted to `/`. Pure.

botocore's signer takes any request of any service, and eight times as much CPU time.
"""

from hashlib import sha256
from hmac import digest
from typing import NamedTuple

CONTENT_TYPE = "application/x-amz-json-1.0"
_SERVICE = "dynamodb"
_VERSION = "DynamoDB_20120810"


class Host(NamedTuple):
    """Where requests go: the host's name (with the port, if it is not the usual one) and the region."""

    name: str
    region: str


class Secret(NamedTuple):
    """Credentials as they are at one instant. Only those of a session have a token."""

    access_key: str
    secret_key: str
    token: str | None


def signed_headers(host: Host, operation: str, body: bytes, secret: Secret, instant: str) -> dict[str, str]:
    """The headers of a request of an operation (`PutItem`), which is sent at an instant (`20230501T120000Z`)."""
    headers = {"Content-Type": CONTENT_TYPE, "Host": host.name, "X-Amz-Date": instant}
    if secret.token:
        headers["X-Amz-Security-Token"] = secret.token
    headers["X-Amz-Target"] = f"{_VERSION}.{operation}"
    # They stand in the order of their names, as the signature wants them.
    names = ";".join(headers).lower()
    canonical = "\n".join(f"{name.lower()}:{value}" for name, value in headers.items())
    request = f"POST\n/\n\n{canonical}\n\n{names}\n{sha256(body).hexdigest()}"
    scope = f"{instant[:8]}/{host.region}/{_SERVICE}/aws4_request"
    wanted = f"AWS4-HMAC-SHA256\n{instant}\n{scope}\n{sha256(request.encode()).hexdigest()}"
    key = f"AWS4{secret.secret_key}".encode()
    for part in scope.split("/"):
        key = digest(key, part.encode(), "sha256")
    signature = digest(key, wanted.encode(), "sha256").hex()
    headers["Authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={secret.access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
    return headers
