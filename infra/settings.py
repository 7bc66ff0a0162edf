"""The choices of a deployment: what each is, its default at each stage, and which values are valid. `context` reads them."""

import re
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal, get_args

Architecture = Literal["arm64", "x86_64"]
Stage = Literal["prod", "staging", "dev"]

_RUNTIME = re.compile(r"python3\.(\d{1,2})")
_STACK_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,127}")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_SCHEDULE = re.compile(r"(?:cron|rate)\([^()]+\)")
_ORIGIN = re.compile(r"https://[a-z0-9.-]+(?::\d+)?|http://localhost(?::\d+)?")
_OLDEST_MINOR = 11
"""The code needs Python 3.11."""
_SNAP_START_MINOR = 12
"""Lambda offers SnapStart from Python 3.12 on."""

STAGE_NAMES: Final[dict[Stage, str]] = {
    "prod": "Gridview",
    "staging": "Gridview-staging",
    "dev": "Gridview-dev",
}
"""The stack's name at each stage, unless another is chosen."""


class SettingError(ValueError):
    """An invalid value of a setting; the message names it and the valid values."""


def _told(tells: str) -> dict[str, str]:
    """What help and docs tell of a setting."""
    return {"tells": tells}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a deployment. Every default is the production value."""

    stage: Stage = field(
        default="prod",
        metadata=_told("`staging`: as `prod`, in a stack of its own; `dev`: disposable and cheap"),
    )
    stack_name: str = field(
        default="Gridview", metadata=_told("`Gridview-staging` and `Gridview-dev` at the other stages")
    )
    architecture: Architecture = field(default="arm64", metadata=_told("or `x86_64`"))
    runtime: str = field(default="python3.13", metadata=_told("3.11 or later"))
    snap_start: bool = field(
        default=True, metadata=_told("`false` at the stage `dev` and before 3.12; not in every region")
    )
    protect: bool = field(
        default=True,
        metadata=_told("`false` at the stage `dev`: no deletion protection, and the data go with the stack"),
    )
    first: bool = field(
        default=False,
        metadata=_told(
            "`true` for the first deployment: nothing is protected yet, so a failed one leaves nothing"
        ),
    )
    emulator: bool = field(
        default=False,
        metadata=_told("for a local engine: no bootstrap roles, no TLS, no alarm on an expression"),
    )
    alarm_email: str = field(
        default="", metadata=_told("who is mailed when an alarm goes off; its owner confirms once")
    )
    check_schedule: str = field(
        default="cron(17 3 * * ? *)",
        metadata=_told("when the index is compared with the issues, in UTC; at least once a day"),
    )

    allowed_origins: tuple[str, ...] = field(
        default=(),
        metadata=_told("whose pages may call the API from a browser: `https://app.example.org,...`"),
    )

    def __post_init__(self) -> None:
        if self.stage not in get_args(Stage):
            raise SettingError(f"stage: one of {', '.join(get_args(Stage))}")
        if not _STACK_NAME.fullmatch(self.stack_name):
            raise SettingError("stack-name: letters, digits and hyphens, beginning with a letter")
        if self.architecture not in get_args(Architecture):
            raise SettingError(f"architecture: one of {', '.join(get_args(Architecture))}")
        if not _RUNTIME.fullmatch(self.runtime) or self.python_minor < _OLDEST_MINOR:
            raise SettingError(f"runtime: python3.{_OLDEST_MINOR} or later")
        if self.snap_start and not runtime_snaps(self.runtime):
            raise SettingError(f"snap-start: needs a runtime of python3.{_SNAP_START_MINOR} or later")
        if self.alarm_email and not _EMAIL.fullmatch(self.alarm_email):
            raise SettingError("alarm-email: an address")
        if not _SCHEDULE.fullmatch(self.check_schedule):
            raise SettingError("check-schedule: cron(...) or rate(...), as EventBridge writes it")
        if not all(_ORIGIN.fullmatch(origin) for origin in self.allowed_origins):
            raise SettingError(
                "allowed-origins: https://HOST or http://localhost:PORT, several joined by commas"
            )

    @property
    def guarded(self) -> bool:
        """Whether stack, table and users refuse to be deleted. At the first deployment they do not yet: CloudFormation then deletes
        what a failed one has made, and the deployment can be repeated.
        """
        return self.protect and not self.first

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
        "snap_start": not dev and runtime_snaps(runtime),
    }


def runtime_snaps(runtime: str) -> bool:
    """Whether Lambda can restore this runtime from a snapshot."""
    matched = _RUNTIME.fullmatch(runtime)
    return matched is not None and int(matched[1]) >= _SNAP_START_MINOR


def told() -> list[tuple[str, str, str]]:
    """Each setting by its name on the command line, its default at the stage `prod`, and what there is to know."""
    return [
        (one.name.replace("_", "-"), _text(one.default), one.metadata["tells"]) for one in fields(Settings)
    ]


def _text(default: object) -> str:
    match default:
        case bool():
            return str(default).lower()
        case tuple():
            return ",".join(default)
        case _:
            return str(default)
