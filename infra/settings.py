"""The choices of a deployment: their meaning, their defaults at each stage, and their valid values.

`context` reads them.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal, get_args

from gridview.support import forms
from gridview.support.fold_pace import HEAVIEST, LONGEST, Pace
from infra.functions import FUNCTIONS
from infra.limits import KEY_WRITE_UNITS, WRITES_OF_A_KEY

Architecture = Literal["arm64", "x86_64"]
Stage = Literal["prod", "staging", "dev"]
Transport = Literal["direct", "botocore"]
Traces = Literal["callers", "all", "none"]

_RUNTIME = re.compile(r"python3\.(\d{1,2})")
_STACK_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,127}")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_SENDER = re.compile(r"[A-Za-z0-9._+-]+@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}")
_DAILY_CRON = re.compile(r"cron\([0-9*/,-]+ [0-9*/,-]+ (?:\* \* \?|\? \* \*) \*\)")
_RATE = re.compile(r"rate\(([1-9][0-9]{0,3}) (minute|hour|day)s?\)")
_DAY_OF: Final = {"minute": 1_440, "hour": 24, "day": 1}
_LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_PORT = "(?::[1-9][0-9]{0,4})?"
_ORIGIN = re.compile(rf"https://{_LABEL}(?:\.{_LABEL})*{_PORT}|http://localhost{_PORT}")
_VAULT = re.compile(r"[A-Za-z0-9_-]{2,50}")
_DOMAIN = re.compile(rf"(?:{_LABEL}\.)+[a-z]{{2,63}}")
_CERTIFICATE = re.compile(r"arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate/[A-Za-z0-9-]+")
_WEB_ACL = re.compile(r"arn:aws:wafv2:us-east-1:\d{12}:global/webacl/[A-Za-z0-9_-]+/[a-f0-9-]+")
_STREAM = re.compile(
    r"arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:\d{12}:table/([A-Za-z0-9_.-]{3,255})/stream/[0-9T:.-]+"
)
_OWN_TABLE = "none"
_OLDEST_MINOR = 11
"""The code needs Python 3.11."""
_SNAP_START_MINOR = 12
"""Lambda offers SnapStart from Python 3.12 on."""

_RESERVED = re.compile(rf"({'|'.join(FUNCTIONS)})=[1-9]\d{{0,4}}")

UNRESERVED: Final = 100
"""The part of an account's concurrency that Lambda refuses to reserve."""

NEW_ACCOUNT: Final = 10
"""The concurrency of a new account, which can reserve none."""

_MAY_RESERVE = 200
"""The account's concurrency from which on shares of it are reserved by default."""

_SMALL = 50
"""The account's concurrency below which functions that no caller waits for have to be held back."""

_WORK_SHARES: Final = ((_SMALL, 10), (1_000, 50))
"""Below which concurrency a user's long queries may take which percentage of a query container's time."""

_WHOLE_PERCENT = 100

_HIGHEST_RATE = KEY_WRITE_UNITS
"""A tenant's writes are counted under one key."""

STAGE_NAMES: Final[dict[Stage, str]] = {
    "prod": "Gridview",
    "staging": "Gridview-staging",
    "dev": "Gridview-dev",
}
"""The stack's name at each stage, unless another is chosen."""


class SettingError(ValueError):
    """An invalid value of a setting; the message names it and the valid values."""


def _described(text: str) -> dict[str, str]:
    """Metadata with the text of a setting in help and docs."""
    return {"text": text}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a deployment. Every default is the production value."""

    stage: Stage = field(
        default="prod",
        metadata=_described("`staging`: as `prod`, in a stack of its own; `dev`: disposable and cheap"),
    )
    stack_name: str = field(
        default="Gridview", metadata=_described("`Gridview-staging` and `Gridview-dev` at the other stages")
    )
    architecture: Architecture = field(default="arm64", metadata=_described("or `x86_64`"))
    runtime: str = field(default="python3.13", metadata=_described("3.11 or later"))
    snap_start: bool = field(
        default=True, metadata=_described("`false` at the stage `dev` and before 3.12; not in every region")
    )
    protect: bool = field(
        default=True,
        metadata=_described(
            "`false` at the stage `dev`: no deletion protection; deleting the stack deletes the data, but not a restored table"
        ),
    )
    first_deployment: bool = field(
        default=False,
        metadata=_described(
            "`true` for the first deployment: nothing is protected yet, so a failed one leaves nothing in the "
            "account (the CDK app reads it from AWS)"
        ),
    )
    emulator: bool = field(
        default=False,
        metadata=_described("for a local engine: no bootstrap roles, no TLS, no alarm on an expression"),
    )
    alarm_email: str = field(
        default="",
        metadata=_described(
            "address that receives a mail when an alarm goes off; its owner must confirm once"
        ),
    )
    mail_from: str = field(
        default="",
        metadata=_described(
            "sender of invitations and codes by SES, of a domain that SES has verified in this region. "
            "Without it Cognito sends some 50 mails a day"
        ),
    )
    check_schedule: str = field(
        default="cron(17 3 * * ? *)",
        metadata=_described("when upkeep compares the index with the issues, in UTC; at least once a day"),
    )

    allowed_origins: tuple[str, ...] = field(
        default=(),
        metadata=_described(
            "origins whose pages may call the API from a browser: `https://app.example.org,...`"
        ),
    )

    page: bool = field(
        default=True,
        metadata=_described(
            "the web page, from S3 by CloudFront, on one origin with the API; `false`: only the API"
        ),
    )
    domain_name: str = field(
        default="",
        metadata=_described(
            "the address of page and API: `grid.example.org`; its DNS record points to `DomainTarget`"
        ),
    )
    certificate_arn: str = field(
        default="",
        metadata=_described(
            "the domain's certificate: of us-east-1; without `page` and `cdn` of this region"
        ),
    )
    socket_domain_name: str = field(
        default="",
        metadata=_described(
            "the address of sockets: `live.grid.example.org`; its DNS record points to `SocketDomainTarget`"
        ),
    )
    regional_certificate_arn: str = field(
        default="",
        metadata=_described(
            "a certificate of this region for `socket-domain-name`; with `execute-api=false` also for `domain-name`"
        ),
    )
    execute_api: bool = field(
        default=True,
        metadata=_described(
            "`false`: API Gateway's own addresses are disabled; needs `domain-name` and `socket-domain-name`"
        ),
    )
    cdn: bool = field(
        default=False, metadata=_described("`ApiUrl` is CloudFront's address, also without a domain")
    )
    web_acl_arn: str = field(
        default="", metadata=_described("AWS WAF before CloudFront: a web ACL for CLOUDFRONT, of us-east-1")
    )
    account_concurrency: int = field(
        default=0,
        metadata=_described(
            "Lambda's concurrency that other stacks have not reserved (the CDK app reads it from AWS). From 200 on, 30% and 10% "
            "are for `live` and `socket`. Below 50, background work is limited"
        ),
    )
    reserved_concurrency: tuple[str, ...] = field(
        default=(),
        metadata=_described(
            "invocations reserved for a function, which are also its maximum: `query=100,maintain=20`"
        ),
    )
    polls_per_tenant: int = field(
        default=0,
        metadata=_described(
            "long polls that a tenant may have open; by default a third of what `live` may run"
        ),
    )
    long_query_percent: int = field(
        default=0,
        metadata=_described(
            "percentage of a query container's time that a user's long queries may take, and a tenant's twice that; 100: no "
            "limit. Default: 10 below a concurrency of 50, 50 below 1,000, otherwise 100"
        ),
    )
    projects_per_tenant: int = field(
        default=1_000, metadata=_described("projects that a tenant may have; `0`: no limit")
    )
    parallelization: int = field(
        default=2, metadata=_described("batches of one stream shard in progress at once, 1 to 10")
    )
    workers: int = field(
        default=2,
        metadata=_described("jobs of projects in progress at once, 1 to 1000; `1`: one, once a minute"),
    )
    deliverers: int = field(
        default=2,
        metadata=_described(
            "invocations at once that deliver to webhooks, 1 to 1000, and as many to slow ones; `1`: one, once a minute"
        ),
    )
    warm_reads: int = field(
        default=0,
        metadata=_described("read units a second that table and index take from the start, at least 12,000"),
    )
    warm_writes: int = field(
        default=0,
        metadata=_described("write units a second that table and index take from the start, at least 4,000"),
    )
    max_reads: int = field(
        default=0, metadata=_described("read units a second above which DynamoDB throttles")
    )
    max_writes: int = field(
        default=0, metadata=_described("write units a second above which DynamoDB throttles")
    )
    writes_per_second: int = field(
        default=WRITES_OF_A_KEY,
        metadata=_described("writes a second of each tenant, over 10 s, up to 1,000; `0`: no limit"),
    )
    stored_form: int = field(
        default=forms.NEWEST,
        metadata=_described(
            "newest stored form that the functions write; the previous one in the deployment that brings it (the CDK app "
            "reads it from AWS)"
        ),
    )
    fold_weight: int = field(
        default=Pace().weight,
        metadata=_described("changes that wait before a minute's upkeep folds them into blocks"),
    )
    fold_seconds: int = field(
        default=Pace().seconds,
        metadata=_described("seconds after which upkeep folds fewer changes too, up to 900"),
    )
    transport: Transport = field(
        default="direct",
        metadata=_described("`botocore`: the functions call DynamoDB only by botocore"),
    )
    traces: Traces = field(
        default="callers",
        metadata=_described("functions that send traces to X-Ray: `query` and `command`, `all` or `none`"),
    )
    isolate_sessions: bool = field(
        default=True,
        metadata=_described(
            "functions that serve callers reach only the caller's tenant, by sessions of a role that IAM confines; `false` at the "
            "stage `dev`"
        ),
    )
    hot_keys: bool = field(
        default=False,
        metadata=_described("Contributor Insights: which keys of table and index are throttled"),
    )
    customer_key: bool = field(
        default=False,
        metadata=_described("encrypt the table with a KMS key of this account, made with the stack"),
    )
    backup: bool = field(
        default=False,
        metadata=_described(
            "AWS Backup: the table each night, kept for 35 days, in a vault that outlives the stack"
        ),
    )
    backup_vault: str = field(
        default="", metadata=_described("the vault's name; by default the stack's name and `-backups`")
    )
    backup_vault_exists: bool = field(
        default=False,
        metadata=_described(
            "`true`: the vault exists already, and the stack uses it (the CDK app reads it from AWS)"
        ),
    )

    restored_stream: str = field(
        default="",
        metadata=_described(
            "ARN of the stream of a table that `./dev restore` made; the stack uses that table (the CDK app reads it from AWS). "
            "`none`: a new, empty table"
        ),
    )

    def __post_init__(self) -> None:
        for name, (is_valid, valid) in _RULES.items():
            if not is_valid(self):
                raise SettingError(f"{name}: {valid}")

    @property
    def restored_table(self) -> str | None:
        """The name of the table that a restore made, None: the stack has its own."""
        found = _STREAM.fullmatch(self.restored_stream)
        return None if found is None else found[1]

    @property
    def fold_environment(self) -> Mapping[str, str]:
        """The variables of functions that write to journals: when a fold is due."""
        return {"FOLD_WEIGHT": str(self.fold_weight), "FOLD_SECONDS": str(self.fold_seconds)}

    def reserved(self, function: str) -> int | None:
        """The concurrency set aside for a function; None: it shares the rest of the account's.

        By default `live` and `socket` get shares of the account's, so that waiting requests can't use up the
        concurrency of others.
        """
        given = self._given_concurrency
        reserves = self.stage != "dev" and self.account_concurrency >= _MAY_RESERVE
        if function in given or not reserves:
            return given.get(function)
        spare = self.account_concurrency - UNRESERVED - sum(given.values())
        return max(spare * FUNCTIONS[function].reserved_percent // 100, 0) or None

    @property
    def _given_concurrency(self) -> dict[str, int]:
        entries = (entry.split("=") for entry in self.reserved_concurrency)
        return {function: int(most) for function, most in entries}

    @property
    def open_polls(self) -> int:
        """The long polls that each tenant may have open: two tenants together can't use up the concurrency of `live`.

        While one ends, the next is there already, so a tenant has up to twice as many in flight.
        """
        if self.polls_per_tenant:
            return self.polls_per_tenant
        reserved = self.reserved("live")
        if reserved is not None:
            return max(reserved // 3, 1)
        concurrency = self.account_concurrency or NEW_ACCOUNT
        return max(concurrency // (10 if concurrency < _SMALL else 5), 1)

    @property
    def work_share(self) -> int:
        """The percentage of a query container's time that a user's long queries may take: less where executions are few."""
        if self.long_query_percent:
            return self.long_query_percent
        concurrency = self.account_concurrency or NEW_ACCOUNT
        return next((share for most, share in _WORK_SHARES if concurrency < most), _WHOLE_PERCENT)

    def traced(self, function: str) -> bool:
        """Whether a function sends traces."""
        return {"callers": FUNCTIONS[function].traced, "all": True, "none": False}[self.traces]

    @property
    def vault_name(self) -> str:
        """The name of the vault of backups."""
        named = f"{self.stack_name}-backups"
        return self.backup_vault or (named if _VAULT.fullmatch(named) else f"{self.short_name}-backups")

    @property
    def small_account(self) -> bool:
        """Whether the account is known to have so little concurrency that the background could use up the callers'
        share.
        """
        return 0 < self.account_concurrency < _SMALL

    @property
    def guarded(self) -> bool:
        """Whether stack, table and users refuse to be deleted. At the first deployment they do not yet.

        CloudFormation then deletes the parts of a failed one, and the deployment can be repeated.
        """
        return self.protect and not self.first_deployment

    @property
    def short_name(self) -> str:
        """The stack's name where only short names in lower case are taken, or none with certain words: 17 characters."""
        return f"gridview-{hashlib.sha256(self.stack_name.encode()).hexdigest()[:8]}"

    @property
    def has_distribution(self) -> bool:
        """Whether CloudFront is part of the stack."""
        return self.page or self.cdn

    @property
    def log_days(self) -> int:
        """How long logs are kept."""
        return 14 if self.stage == "dev" else 90

    @property
    def python_minor(self) -> int:
        """The 13 of `python3.13`."""
        return int(self.runtime.rpartition(".")[2])

    @property
    def python_version(self) -> str:
        """The `3.13` of `python3.13`."""
        return self.runtime.removeprefix("python")


def stage_defaults(stage: Stage, runtime: str) -> dict[str, Any]:
    """The defaults that depend on the stage and on the runtime."""
    dev = stage == "dev"
    return {
        "stack_name": STAGE_NAMES[stage],
        "protect": not dev,
        "isolate_sessions": not dev,
        "snap_start": not dev and runtime_snaps(runtime),
    }


def quota_defaults(account_concurrency: int) -> dict[str, Any]:
    """The defaults that depend on the account's concurrency. With the least that Lambda gives, query and command keep four."""
    if not 0 < account_concurrency < _SMALL:
        return {}
    return {"parallelization": 1, "workers": 1, "deliverers": 1}


def _is_daily(schedule: str) -> bool:
    """Whether a schedule comes round every day: the alarm `CheckMissing` expects that."""
    rate = _RATE.fullmatch(schedule)
    if rate is not None:
        return int(rate[1]) <= _DAY_OF[rate[2]]
    return _DAILY_CRON.fullmatch(schedule) is not None


def runtime_snaps(runtime: str) -> bool:
    """Whether Lambda can restore this runtime from a snapshot."""
    matched = _RUNTIME.fullmatch(runtime)
    return matched is not None and int(matched[1]) >= _SNAP_START_MINOR


def described() -> list[tuple[str, str, str]]:
    """The settings: name on the command line, default at the stage `prod`, and text."""
    return [
        (one.name.replace("_", "-"), _text(one.default), one.metadata["text"]) for one in fields(Settings)
    ]


def _text(default: object) -> str:
    match default:
        case bool():
            return str(default).lower()
        case tuple():
            return ",".join(default)
        case 0:
            return ""
        case _:
            return str(default)


_RULES: Final[dict[str, tuple[Callable[[Settings], bool], str]]] = {
    "restored-stream": (
        lambda our: our.restored_stream in ("", _OWN_TABLE) or our.restored_table is not None,
        "the ARN of a table's stream, as `./dev restore` prints it, or none",
    ),
    "stage": (lambda our: our.stage in get_args(Stage), f"one of {', '.join(get_args(Stage))}"),
    "stack-name": (
        lambda our: _STACK_NAME.fullmatch(our.stack_name) is not None,
        "letters, digits and hyphens, beginning with a letter",
    ),
    "architecture": (
        lambda our: our.architecture in get_args(Architecture),
        f"one of {', '.join(get_args(Architecture))}",
    ),
    "runtime": (
        lambda our: _RUNTIME.fullmatch(our.runtime) is not None and our.python_minor >= _OLDEST_MINOR,
        f"python3.{_OLDEST_MINOR} or later",
    ),
    "snap-start": (
        lambda our: not our.snap_start or runtime_snaps(our.runtime),
        f"needs a runtime of python3.{_SNAP_START_MINOR} or later",
    ),
    "alarm-email": (
        lambda our: not our.alarm_email or _EMAIL.fullmatch(our.alarm_email) is not None,
        "an address",
    ),
    "mail-from": (
        lambda our: not our.mail_from or _SENDER.fullmatch(our.mail_from) is not None,
        "an address, such as grid@example.org",
    ),
    "check-schedule": (
        lambda our: _is_daily(our.check_schedule),
        "at least once a day, as EventBridge writes it: cron(MINUTES HOURS * * ? *) or rate(N hours)",
    ),
    "allowed-origins": (
        lambda our: all(_ORIGIN.fullmatch(origin) for origin in our.allowed_origins),
        "https://HOST or http://localhost:PORT, several joined by commas",
    ),
    "domain-name": (
        lambda our: _DOMAIN.fullmatch(our.domain_name) is not None if our.domain_name else True,
        "a host name, such as api.example.org",
    ),
    "certificate-arn": (
        lambda our: (
            _CERTIFICATE.fullmatch(our.certificate_arn) is not None
            and (not our.has_distribution or ":us-east-1:" in our.certificate_arn)
            if our.domain_name
            else not our.certificate_arn
        ),
        "the ARN of an ACM certificate for domain-name; with page or cdn, of us-east-1",
    ),
    "socket-domain-name": (
        lambda our: (
            _DOMAIN.fullmatch(our.socket_domain_name) is not None
            and our.socket_domain_name != our.domain_name
            if our.socket_domain_name
            else True
        ),
        "a host name other than `domain-name`, such as live.example.org: API Gateway has no sockets on the domain "
        "of an HTTP API",
    ),
    "regional-certificate-arn": (
        lambda our: (
            _CERTIFICATE.fullmatch(our.regional_certificate_arn) is not None
            if our.socket_domain_name
            else not our.regional_certificate_arn
        ),
        "the ARN of an ACM certificate of the stack's region for socket-domain-name",
    ),
    "execute-api": (
        lambda our: our.execute_api or bool(our.domain_name and our.socket_domain_name),
        "false needs domain-name and socket-domain-name",
    ),
    "web-acl-arn": (
        lambda our: (
            our.has_distribution and _WEB_ACL.fullmatch(our.web_acl_arn) is not None
            if our.web_acl_arn
            else True
        ),
        "the ARN of a web ACL of us-east-1 with the scope CLOUDFRONT; it needs page or cdn",
    ),
    "reserved-concurrency": (
        lambda our: all(_RESERVED.fullmatch(entry) for entry in our.reserved_concurrency),
        f"{', '.join(f'{name}=N' for name in FUNCTIONS)}",
    ),
    "account-concurrency": (
        lambda our: (
            not our.account_concurrency
            or not our.reserved_concurrency
            or sum(our._given_concurrency.values()) + UNRESERVED <= our.account_concurrency
        ),
        f"at least the sum of reserved-concurrency and {UNRESERVED} that stay unreserved",
    ),
    "long-query-percent": (
        lambda our: our.long_query_percent <= _WHOLE_PERCENT,
        f"1 to {_WHOLE_PERCENT}, which is no limit",
    ),
    "writes-per-second": (
        lambda our: our.writes_per_second <= _HIGHEST_RATE,
        f"at most {_HIGHEST_RATE:,}",
    ),
    "stored-form": (
        lambda our: forms.OLDEST <= our.stored_form <= forms.NEWEST,
        f"{forms.OLDEST} to {forms.NEWEST}",
    ),
    "fold-weight": (lambda our: 1 <= our.fold_weight <= HEAVIEST, f"1 to {HEAVIEST:,}"),
    "fold-seconds": (lambda our: 1 <= our.fold_seconds <= LONGEST, f"1 to {LONGEST}"),
    "transport": (
        lambda our: our.transport in get_args(Transport),
        f"one of {', '.join(get_args(Transport))}",
    ),
    "traces": (lambda our: our.traces in get_args(Traces), f"one of {', '.join(get_args(Traces))}"),
    "backup-vault": (
        lambda our: not our.backup_vault or _VAULT.fullmatch(our.backup_vault) is not None,
        "2 to 50 letters, digits, hyphens and underscores",
    ),
    "warm-reads": (lambda our: our.warm_reads == 0 or our.warm_reads >= 12_000, "at least 12000; 0: not set"),
    "warm-writes": (
        lambda our: our.warm_writes == 0 or our.warm_writes >= 4_000,
        "at least 4000; 0: not set",
    ),
    "parallelization": (lambda our: 1 <= our.parallelization <= 10, "1 to 10"),
    "workers": (lambda our: 1 <= our.workers <= 1000, "1 to 1000"),
    "deliverers": (lambda our: 1 <= our.deliverers <= 1000, "1 to 1000"),
}
"""The valid values of each setting, as a test and in words.

A test may look at other settings too; the tests run in this order.
"""
