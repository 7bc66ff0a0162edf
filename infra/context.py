"""Settings from CDK's context: `-c name=value` on the command line, or `context` in cdk.json."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_args, get_origin

from infra.settings import SettingError, Settings, Stage, quota_defaults, stage_defaults

_KEYS = {field.name: field.name.replace("_", "-") for field in fields(Settings)}
_TYPES = {field.name: field.type for field in fields(Settings)}


def settings_from(context: Callable[[str], object]) -> Settings:
    """The settings in a context, of which `context` gives the value of a name, or None.

    Raises:
        SettingError: a value is invalid.
    """
    asked = {name: context(key) for name, key in _KEYS.items()}
    given = {name: _parsed(name, value) for name, value in asked.items() if value is not None}
    defaults = Settings()
    stage = given.get("stage", defaults.stage)
    if stage not in get_args(Stage):
        raise SettingError(f"stage: one of {', '.join(get_args(Stage))}")
    derived = stage_defaults(stage, given.get("runtime", defaults.runtime))
    return Settings(**(derived | quota_defaults(given.get("account_concurrency", 0)) | given))


def _parsed(name: str, value: object) -> Any:
    if _TYPES[name] is bool:
        return _switch(_KEYS[name], value)
    if _TYPES[name] is int:
        return _number(_KEYS[name], value)
    if get_origin(_TYPES[name]) is tuple:
        return tuple(part.strip() for part in str(value).split(",") if part.strip())
    return str(value)


def _number(key: str, value: object) -> int:
    text = str(value)
    if not (text.isascii() and text.isdigit()):
        raise SettingError(f"{key}: a whole number")
    return int(text)


def _switch(key: str, value: object) -> bool:
    # NOTE: `-c name=false` arrives as text, the same setting in cdk.json as a boolean.
    match value:
        case bool():
            return value
        case "true" | "false":
            return value == "true"
        case _:
            raise SettingError(f"{key}: true or false")
