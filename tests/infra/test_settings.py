import pytest

from infra.settings import SettingError, Settings


def _from_context(**context: object) -> Settings:
    from aws_cdk import App

    return Settings.from_context(
        App(context={key.replace("_", "-"): value for key, value in context.items()}).node
    )


def test_without_context_a_deployment_is_a_protected_one_for_production() -> None:
    assert _from_context() == Settings(
        stack_name="Gridview",
        architecture="arm64",
        runtime="python3.13",
        snap_start=True,
        protect=True,
        emulator=False,
        alarm_email="",
        check_schedule="cron(17 3 * * ? *)",
    )


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
    ],
)
def test_another_value_is_refused_by_name(context: dict[str, object], named: str) -> None:
    with pytest.raises(SettingError, match=f"^{named}: "):
        _from_context(**context)
