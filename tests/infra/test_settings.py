import re

import pytest

from infra.context import settings_from
from infra.functions import FUNCTIONS
from infra.paths import ROOT
from infra.settings import UNRESERVED, SettingError, Settings, described

EUROPEAN = "arn:aws:acm:eu-west-1:123456789012:certificate/0f1e"


def _from_context(**context: object) -> Settings:
    return settings_from({key.replace("_", "-"): value for key, value in context.items()}.get)


def test_the_page_has_every_setting_once_with_its_cost() -> None:
    page = (ROOT / "docs/settings.md").read_text("utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| (?:`(.+?)`)? ?\| (.+) \| ([^|]+) \|$", page, re.MULTILINE)
    assert sorted((name, default, does) for name, default, does, _ in rows) == sorted(described())
    assert all(cost.strip() for *_, cost in rows)


def test_without_context_a_deployment_is_a_protected_one_for_production() -> None:
    assert _from_context() == Settings(
        stage="prod",
        stack_name="Gridview",
        architecture="arm64",
        runtime="python3.13",
        snap_start=True,
        protect=True,
        first_deployment=False,
        emulator=False,
        alarm_email="",
        mail_from="",
        check_schedule="cron(17 3 * * ? *)",
        allowed_origins=(),
        page=True,
        domain_name="",
        certificate_arn="",
        socket_domain_name="",
        regional_certificate_arn="",
        execute_api=True,
        cdn=False,
        web_acl_arn="",
        account_concurrency=0,
        reserved_concurrency=(),
        polls_per_tenant=0,
        long_query_percent=0,
        projects_per_tenant=1_000,
        parallelization=2,
        workers=2,
        deliverers=2,
        warm_reads=0,
        warm_writes=0,
        max_reads=0,
        max_writes=0,
        writes_per_second=500,
        stored_form=1,
        fold_weight=256,
        fold_seconds=900,
        transport="direct",
        isolate_sessions=True,
        hot_keys=False,
        customer_key=False,
        backup=False,
        backup_vault="",
        backup_vault_exists=False,
        traces="callers",
    )


def test_functions_that_callers_wait_for_send_traces() -> None:
    def traced(traces: str) -> set[str]:
        chosen = _from_context(traces=traces)
        return {name for name in FUNCTIONS if chosen.traced(name)}

    assert traced("callers") == {"query", "command"}
    assert traced("all") == set(FUNCTIONS)
    assert traced("none") == set()
    with pytest.raises(SettingError, match=r"^traces: one of callers, all, none"):
        _from_context(traces="some")


def test_a_vault_is_named_after_its_stack_unless_it_has_a_name() -> None:
    assert _from_context(stage="staging").vault_name == "Gridview-staging-backups"
    assert _from_context(backup_vault="Ours").vault_name == "Ours"
    long = _from_context(stack_name="A" * 60).vault_name
    assert long.startswith("gridview-")
    assert len(long) <= 50
    with pytest.raises(SettingError, match=r"^backup-vault: "):
        _from_context(backup_vault="x")


REGIONAL = {"socket_domain_name": "live.example.org", "regional_certificate_arn": EUROPEAN}


@pytest.mark.parametrize(
    ("context", "named"),
    [
        ({"execute_api": "false"}, "execute-api"),
        ({"execute_api": "false", **REGIONAL}, "execute-api"),
        ({"socket_domain_name": "live.example.org"}, "regional-certificate-arn"),
        ({"regional_certificate_arn": EUROPEAN}, "regional-certificate-arn"),
        ({**REGIONAL, "socket_domain_name": "https://live"}, "socket-domain-name"),
        (
            {
                **REGIONAL,
                "page": "false",
                "domain_name": "live.example.org",
                "certificate_arn": EUROPEAN,
            },
            "socket-domain-name",
        ),
    ],
)
def test_domains_of_sockets_and_disabled_addresses_need_each_other(
    context: dict[str, str], named: str
) -> None:
    with pytest.raises(SettingError, match=f"^{named}: "):
        _from_context(**context)


def test_own_addresses_are_disabled_where_both_apis_have_a_domain() -> None:
    named = {"page": "false", "domain_name": "grid.example.org", "certificate_arn": EUROPEAN}
    assert _from_context(execute_api="false", **named, **REGIONAL).execute_api is False
    assert _from_context(**REGIONAL).execute_api is True


def test_a_stage_has_its_own_stack_and_dev_is_disposable() -> None:
    staging, dev = _from_context(stage="staging"), _from_context(stage="dev")
    assert staging == Settings(stage="staging", stack_name="Gridview-staging")
    assert dev == Settings(
        stage="dev", stack_name="Gridview-dev", protect=False, snap_start=False, isolate_sessions=False
    )
    assert (staging.log_days, dev.log_days) == (90, 14)
    kept = _from_context(
        stage="dev", protect="true", snap_start="true", isolate_sessions="true", stack_name="Mine"
    )
    assert kept == Settings(stage="dev", stack_name="Mine")


def test_concurrency_is_reserved_for_functions_that_there_are() -> None:
    settings = _from_context(reserved_concurrency="query=100,maintain=20")
    assert [settings.reserved(function) for function in FUNCTIONS] == [100, None, None, None, None, 20, None]


@pytest.mark.parametrize(
    ("chosen", "live", "socket", "polls"),
    [
        ({}, None, None, 1),
        ({"account_concurrency": "10"}, None, None, 1),
        ({"account_concurrency": "49"}, None, None, 4),
        ({"account_concurrency": "50"}, None, None, 10),
        ({"account_concurrency": "199"}, None, None, 39),
        ({"account_concurrency": "200"}, 30, 10, 10),
        ({"account_concurrency": "1000"}, 270, 90, 90),
        ({"account_concurrency": "1000", "stage": "dev"}, None, None, 200),
        ({"account_concurrency": "1000", "reserved_concurrency": "live=50,query=400"}, 50, 45, 16),
        ({"account_concurrency": "1000", "reserved_concurrency": "query=900"}, None, None, 200),
        ({"reserved_concurrency": "live=3"}, 3, None, 1),
        ({"account_concurrency": "1000", "polls_per_tenant": "7"}, 270, 90, 7),
    ],
)
def test_requests_that_wait_have_a_share_of_what_the_account_may_reserve(
    chosen: dict[str, object], live: int | None, socket: int | None, polls: int
) -> None:
    settings = _from_context(**chosen)
    assert (settings.reserved("live"), settings.reserved("socket"), settings.open_polls) == (
        live,
        socket,
        polls,
    )


@pytest.mark.parametrize(
    ("chosen", "percent"),
    [
        ({}, 10),
        ({"account_concurrency": "10"}, 10),
        ({"account_concurrency": "49"}, 10),
        ({"account_concurrency": "50"}, 50),
        ({"account_concurrency": "999"}, 50),
        ({"account_concurrency": "1000"}, 100),
        ({"account_concurrency": "10", "long_query_percent": "30"}, 30),
    ],
)
def test_long_queries_of_a_user_have_a_smaller_share_where_executions_are_few(
    chosen: dict[str, object], percent: int
) -> None:
    assert _from_context(**chosen).work_share == percent


@pytest.mark.parametrize("quota", ["1", "10", "49"])
def test_a_small_account_has_one_worker_of_each_kind(quota: str) -> None:
    small = _from_context(account_concurrency=quota)
    assert small.small_account
    assert (small.parallelization, small.workers, small.deliverers) == (1, 1, 1)
    chosen = _from_context(account_concurrency=quota, parallelization="3", workers="5", deliverers="4")
    assert (chosen.parallelization, chosen.workers, chosen.deliverers) == (3, 5, 4)


@pytest.mark.parametrize("quota", ["0", "50", "1000"])
def test_any_other_has_several(quota: str) -> None:
    """Also a quota of unknown size."""
    other = _from_context(account_concurrency=quota)
    assert not other.small_account
    assert (other.parallelization, other.workers, other.deliverers) == (2, 2, 2)


@pytest.mark.parametrize("quota", [*range(0, 1_000, 7), 1_000, 10_000])
def test_a_hundred_stay_unreserved_under_any_quota(quota: int) -> None:
    settings = _from_context(account_concurrency=str(quota))
    reserved = sum(settings.reserved(one) or 0 for one in FUNCTIONS)
    assert reserved == 0 or quota - reserved >= UNRESERVED


def test_a_list_is_joined_by_commas() -> None:
    origins = _from_context(allowed_origins="https://app.example.org, http://localhost:5173").allowed_origins
    assert origins == ("https://app.example.org", "http://localhost:5173")


def test_context_of_the_command_line_is_text_and_that_of_cdk_json_may_not_be() -> None:
    typed = _from_context(protect="false", snap_start="true", emulator="true", architecture="x86_64")
    written = _from_context(protect=False, snap_start=True, emulator=True, architecture="x86_64")
    assert typed == written == Settings(protect=False, emulator=True, architecture="x86_64")


@pytest.mark.parametrize(
    ("runtime", "snaps"), [("python3.11", False), ("python3.12", True), ("python3.14", True)]
)
def test_snapshots_are_taken_where_the_runtime_can(runtime: str, snaps: bool) -> None:
    assert _from_context(runtime=runtime).snap_start is snaps
    assert _from_context(runtime=runtime, snap_start="false").snap_start is False


@pytest.mark.parametrize(
    ("context", "named"),
    [
        ({"architecture": "arm"}, "architecture"),
        ({"runtime": "python3.10"}, "runtime"),
        ({"runtime": 3.13}, "runtime"),
        ({"runtime": "nodejs24.x"}, "runtime"),
        ({"runtime": "python3.11", "snap_start": "true"}, "snap-start"),
        ({"protect": "no"}, "protect"),
        ({"protect": 0}, "protect"),
        ({"stack_name": "grid view"}, "stack-name"),
        ({"alarm_email": "ann"}, "alarm-email"),
        ({"check_schedule": "17 3 * * *"}, "check-schedule"),
        ({"check_schedule": "cron(17 3 * * *)"}, "check-schedule"),
        ({"check_schedule": "cron(17 3 ? * MON *)"}, "check-schedule"),
        ({"check_schedule": "cron(17 3 1 * ? *)"}, "check-schedule"),
        ({"check_schedule": "cron(17 3 * 1-6 ? *)"}, "check-schedule"),
        ({"check_schedule": "cron(17 3 * * ? 2027)"}, "check-schedule"),
        ({"check_schedule": "rate(2 days)"}, "check-schedule"),
        ({"check_schedule": "rate(25 hours)"}, "check-schedule"),
        ({"stage": "production"}, "stage"),
        ({"first_deployment": "yes"}, "first-deployment"),
        ({"domain_name": "example"}, "domain-name"),
        ({"domain_name": "api.example.org"}, "certificate-arn"),
        ({"certificate_arn": EUROPEAN}, "certificate-arn"),
        ({"domain_name": "grid.example.org", "certificate_arn": EUROPEAN}, "certificate-arn"),
        (
            {
                "domain_name": "api.example.org",
                "certificate_arn": EUROPEAN,
                "cdn": "true",
                "page": "false",
            },
            "certificate-arn",
        ),
        (
            {
                "web_acl_arn": "arn:aws:wafv2:us-east-1:123456789012:global/webacl/ours/0f1e",
                "page": "false",
            },
            "web-acl-arn",
        ),
        (
            {"web_acl_arn": "arn:aws:wafv2:eu-west-1:123456789012:regional/webacl/ours/0f1e", "cdn": "true"},
            "web-acl-arn",
        ),
        ({"reserved_concurrency": "query"}, "reserved-concurrency"),
        ({"reserved_concurrency": "grid=3"}, "reserved-concurrency"),
        ({"reserved_concurrency": "query=0"}, "reserved-concurrency"),
        ({"account_concurrency": "150", "reserved_concurrency": "query=51"}, "account-concurrency"),
        ({"account_concurrency": "many"}, "account-concurrency"),
        ({"parallelization": "11"}, "parallelization"),
        ({"workers": "0"}, "workers"),
        ({"workers": "1001"}, "workers"),
        ({"deliverers": "0"}, "deliverers"),
        ({"mail_from": "ann"}, "mail-from"),
        ({"mail_from": "Ann <ann@example.org>"}, "mail-from"),
        ({"mail_from": "ann@localhost"}, "mail-from"),
        ({"fold_weight": "0"}, "fold-weight"),
        ({"fold_weight": "1001"}, "fold-weight"),
        ({"fold_seconds": "901"}, "fold-seconds"),
        ({"transport": "boto3"}, "transport"),
        ({"warm_reads": "many"}, "warm-reads"),
        ({"warm_reads": "11999"}, "warm-reads"),
        ({"warm_writes": "3999"}, "warm-writes"),
        ({"max_writes": "-1"}, "max-writes"),
        ({"long_query_percent": "101"}, "long-query-percent"),
        ({"writes_per_second": "1001"}, "writes-per-second"),
        ({"allowed_origins": "*"}, "allowed-origins"),
        ({"allowed_origins": "https://app.example.org/"}, "allowed-origins"),
        ({"allowed_origins": "http://app.example.org"}, "allowed-origins"),
        ({"allowed_origins": "https://app.example.org:"}, "allowed-origins"),
        ({"allowed_origins": "https://app.example.org:٤٤٣"}, "allowed-origins"),
        ({"allowed_origins": "https://app.example.org@evil.example"}, "allowed-origins"),
        ({"allowed_origins": "https://app.example.org."}, "allowed-origins"),
        ({"allowed_origins": "https://..."}, "allowed-origins"),
        ({"allowed_origins": "http://localhost:5173@evil.example"}, "allowed-origins"),
    ],
)
def test_another_value_is_refused_by_name(context: dict[str, object], named: str) -> None:
    with pytest.raises(SettingError, match=f"^{named}: "):
        _from_context(**context)


@pytest.mark.parametrize(
    "context",
    [
        {"check_schedule": "rate(1 day)"},
        {"check_schedule": "rate(24 hours)"},
        {"check_schedule": "rate(90 minutes)"},
        {"check_schedule": "cron(0 */6 ? * * *)"},
        {"check_schedule": "cron(30 1,13 * * ? *)"},
        {"warm_reads": "12000", "warm_writes": "4000"},
    ],
)
def test_these_values_are_taken(context: dict[str, object]) -> None:
    assert _from_context(**context)
