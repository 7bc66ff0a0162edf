"""The choices of a deployment, read from CDK context (`-c name=value`, or `context` in cdk.json) and validated once."""

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from constructs import Node

Architecture = Literal["arm64", "x86_64"]

_RUNTIME = re.compile(r"python3\.(\d{1,2})")
_STACK_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,127}")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_SCHEDULE = re.compile(r"(?:cron|rate)\([^()]+\)")
_OLDEST_MINOR = 11
"""The code needs Python 3.11."""
_SNAP_START_MINOR = 12
"""Lambda offers SnapStart from Python 3.12 on."""


class SettingError(ValueError):
    """An invalid context value; the message names it and the valid values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The context settings of a deployment. Every default is the production value."""

    stack_name: str = "Gridview"
    architecture: Architecture = "arm64"
    runtime: str = "python3.13"
    snap_start: bool = True
    protect: bool = True
    """Deletion protection, and data that outlives the stack. Without it, `cdk destroy` deletes the table and the users too."""
    emulator: bool = False
    """Deploy to an engine on this machine: it has no TLS to enforce, lacks the roles that `cdk bootstrap` makes, and
    refuses alarms on expressions.
    """
    alarm_email: str = ""
    """The address that gets mail from alarms; its owner confirms the subscription once.

    Empty: no mail, but others may subscribe to the topic.
    """
    check_schedule: str = "cron(17 3 * * ? *)"
    """When the index is compared with the issues: an EventBridge schedule, in UTC.

    If it runs less than once a day, the alarm on missing checks goes off.
    """

    def __post_init__(self) -> None:
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

    @property
    def python_minor(self) -> int:
        """The 13 of `python3.13`."""
        return int(self.runtime.rpartition(".")[2])

    @property
    def python_version(self) -> str:
        """The `3.13` of `python3.13`."""
        return self.runtime.removeprefix("python")

    @staticmethod
    def from_context(node: "Node") -> "Settings":
        """The settings in the context: `stack-name`, `architecture`, and so on, with hyphens.

        Raises:
            SettingError: a value is invalid.
        """
        asked = {name: node.try_get_context(key) for name, key in _CONTEXT_KEYS.items()}
        given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
        for name, value in given.items():
            given[name] = _switch(_CONTEXT_KEYS[name], value) if name in _SWITCHES else str(value)
        if "runtime" in given:
            given.setdefault("snap_start", runtime_snaps(given["runtime"]))
        return Settings(**given)


def runtime_snaps(runtime: str) -> bool:
    """Whether Lambda can restore this runtime from a snapshot."""
    matched = _RUNTIME.fullmatch(runtime)
    return matched is not None and int(matched[1]) >= _SNAP_START_MINOR


_CONTEXT_KEYS = {field.name: field.name.replace("_", "-") for field in fields(Settings)}
_SWITCHES = {field.name for field in fields(Settings) if field.type is bool}


def _switch(key: str, value: object) -> bool:
    # NOTE: `-c name=false` arrives as text, the same setting in cdk.json as a boolean.
    match value:
        case bool():
            return value
        case "true" | "false":
            return value == "true"
        case _:
            raise SettingError(f"{key}: true or false")
