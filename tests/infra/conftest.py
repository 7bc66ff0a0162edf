import json
from pathlib import Path
from typing import Any

import pytest

from infra.settings import Settings
from infra.vendor import build_vendor
from tests.support import templates


@pytest.fixture(autouse=True)
def _no_sockets(socket_disabled: None) -> None:
    """Let these tests synthesize without a network."""


@pytest.fixture(scope="session")
def template() -> dict[str, Any]:
    """The template of a deployment with the default settings."""
    return templates.template()


@pytest.fixture(scope="session")
def chosen_template() -> dict[str, Any]:
    """The template of a first deployment with every choice of an operator."""
    return templates.synthesized(
        stage="staging",
        stack_name="Gridview-staging",
        first_deployment=True,
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
        stored_form=1,
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
    """The template of a deployment of the API only."""
    return templates.synthesized(page=False)


@pytest.fixture(scope="session")
def small_template() -> dict[str, Any]:
    """The template of a deployment in a new account, whose mails SES sends."""
    from infra.context import settings_from
    from infra.template import synthesize

    return synthesize(settings_from({"account-concurrency": "10", "mail-from": "grid@mail.example.org"}.get))


@pytest.fixture(scope="session")
def isolated_template() -> dict[str, Any]:
    """The template of a deployment that isolates tenants by sessions, which is the default."""
    return templates.template()


@pytest.fixture(scope="session")
def shared_template() -> dict[str, Any]:
    """The template of a deployment whose functions reach the data of all tenants."""
    return templates.synthesized(isolate_sessions=False)


@pytest.fixture(scope="session")
def local_template(assembly: Path) -> dict[str, Any]:
    """The template of the deploy tests' deployment."""
    template: dict[str, Any] = json.loads((assembly / "Gridview.template.json").read_text("utf-8"))
    return template


@pytest.fixture(scope="session")
def vendor() -> Path:
    """The deployed third-party layer of the default platform."""
    return build_vendor(python_version=Settings().python_version, architecture=Settings().architecture)
