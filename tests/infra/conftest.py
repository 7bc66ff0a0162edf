import json
from pathlib import Path
from typing import Any

import pytest

from infra.settings import Settings
from infra.vendor import build_vendor
from tests.support import templates


@pytest.fixture(autouse=True)
def _no_sockets(socket_disabled: None) -> None:
    """Whatever these tests synthesize in this process, they do without a network."""


@pytest.fixture(scope="session")
def template() -> dict[str, Any]:
    """What a deployment with the default settings declares."""
    return templates.template()


@pytest.fixture(scope="session")
def chosen_template() -> dict[str, Any]:
    """What the first deployment with every choice that an operator has declares."""
    return templates.synthesized(
        stage="staging",
        stack_name="Gridview-staging",
        first=True,
        snap_start=False,
        alarm_email="ops@example.org",
        check_schedule="rate(12 hours)",
        allowed_origins=("https://app.example.org", "http://localhost:5173"),
        account_concurrency=1_000,
        reserved_concurrency=("query=100", "maintain=20"),
        projects_per_tenant=5,
        parallelization=5,
        workers=9,
        warm_reads=20000,
        warm_writes=8000,
        max_reads=30000,
        max_writes=9000,
        writes_per_second=50,
        forms=1,
        fold_weight=100,
        fold_seconds=60,
        transport="botocore",
        isolate_sessions=False,
        hot_keys=True,
        customer_key=True,
        backup=True,
        cdn=True,
        domain_name="grid.example.org",
        certificate_arn="arn:aws:acm:us-east-1:123456789012:certificate/0f1e",
        web_acl_arn="arn:aws:wafv2:us-east-1:123456789012:global/webacl/ours/0f1e",
    )


@pytest.fixture(scope="session")
def api_template() -> dict[str, Any]:
    """What a deployment of the API alone declares."""
    return templates.synthesized(page=False)


@pytest.fixture(scope="session")
def small_template() -> dict[str, Any]:
    """What a deployment in a new account declares, whose mails SES sends."""
    from infra.context import settings_from
    from infra.template import synthesize

    return synthesize(settings_from({"account-concurrency": "10", "mail-from": "grid@mail.example.org"}.get))


@pytest.fixture(scope="session")
def isolated_template() -> dict[str, Any]:
    """What a deployment that isolates tenants by sessions declares: by default each does."""
    return templates.template()


@pytest.fixture(scope="session")
def shared_template() -> dict[str, Any]:
    """What a deployment declares whose functions reach the data of all tenants."""
    return templates.synthesized(isolate_sessions=False)


@pytest.fixture(scope="session")
def local_template(assembly: Path) -> dict[str, Any]:
    """What the deployment of the deploy tests declares."""
    template: dict[str, Any] = json.loads((assembly / "Gridview.template.json").read_text("utf-8"))
    return template


@pytest.fixture(scope="session")
def vendor() -> Path:
    """The third-party layer of the default platform, as it is deployed."""
    return build_vendor(python_version=Settings().python_version, architecture=Settings().architecture)
