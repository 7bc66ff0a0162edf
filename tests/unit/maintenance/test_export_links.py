"""Links to files: signed only for the bucket, for minutes, and with isolated sessions by the tenant's own."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from moto import mock_aws

from gridview.dynamodb.sessions import acting_for
from gridview.maintenance.export_files import file_key
from gridview.maintenance.export_links import LINK_SECONDS, ExportLinks, Link

ROLE = "arn:aws:iam::123456789012:role/session"


@pytest.fixture(autouse=True)
def account() -> Iterator[None]:
    with mock_aws():
        yield


def signed(links: ExportLinks, tenant: str) -> tuple[str, dict[str, str]]:
    """The path of a link, and the parameters of its signature."""
    link = Link(file_key(tenant, "35e9", "018f3a5c2b71e7d4c90a", "csv"), "35e9.csv", "text/csv")
    parts = urlsplit(links.url(link))
    assert parts.scheme == "https"
    assert parts.hostname is not None
    assert parts.hostname.startswith("exports.s3.")
    return parts.path, {name: value for name, (value,) in parse_qs(parts.query).items()}


def test_a_link_is_good_for_minutes_for_one_file() -> None:
    path, parameters = signed(ExportLinks("exports", ""), "0807")
    assert path == "/files/0807/35e9/018f3a5c2b71e7d4c90a.csv"
    assert parameters["X-Amz-Expires"] == str(LINK_SECONDS)
    assert parameters["response-content-disposition"] == 'attachment; filename="35e9.csv"'
    assert parameters["X-Amz-Algorithm"] == "AWS4-HMAC-SHA256"


def test_with_isolated_sessions_the_tenant_of_the_request_signs() -> None:
    links, tokens = ExportLinks("exports", ROLE), []
    for tenant in ("0807", "0808", "0807"):
        with acting_for(tenant):
            tokens.append(signed(links, tenant)[1]["X-Amz-Security-Token"])
    assert tokens[0] == tokens[2] != tokens[1]
    assert "testing" not in tokens


def test_signing_without_a_tenant_is_an_error() -> None:
    with pytest.raises(LookupError):
        signed(ExportLinks("exports", ROLE), "0807")
