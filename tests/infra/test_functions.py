import subprocess
import sys
from typing import Any

from gridview.support.forms import NEWEST, OLDEST
from gridview.support.version import VERSION
from infra.event_sources import Endpoints, Schedule, StreamRecords
from infra.functions import FUNCTIONS
from infra.limits import CLOCK_MARGIN, SETTLE_SECONDS
from infra.paths import ROOT
from infra.routes import ROUTES
from infra.settings import Settings
from tests.support.assembly import SETTINGS
from tests.support.templates import functions_of, resources

NAMES = {
    "QueryFunction": "query",
    "CommandFunction": "command",
    "LiveFunction": "live",
    "SocketFunction": "socket",
    "DeliverFunction": "deliver",
    "MaintainFunction": "maintain",
    "UpkeepFunction": "upkeep",
}


def test_functions_have_names_that_people_can_type(template: dict[str, Any]) -> None:
    assert set(functions_of(template)) == set(NAMES)
    assert {route.function for route in ROUTES} < set(NAMES.values())


def test_each_function_is_declared_in_the_module_of_its_name() -> None:
    assert list(FUNCTIONS) == list(NAMES.values())
    code = {path.parent.name for path in (ROOT / "functions").glob("*/handler.py")}
    modules = {path.stem for path in (ROOT / "infra/functions").glob("*.py")} - {"__init__"}
    assert set(FUNCTIONS) == code == modules
    for name, spec in FUNCTIONS.items():
        assert type(spec).__module__ == f"infra.functions.{name}"
        assert type(spec).__name__ == name.capitalize()


def test_declarations_are_read_without_the_cdk() -> None:
    code = "import sys, infra.functions, infra.settings; sys.exit('aws_cdk' in sys.modules)"
    path = {"PYTHONPATH": f"{ROOT}:{ROOT / 'layers/core/python'}"}
    assert subprocess.run([sys.executable, "-c", code], env=path, check=False).returncode == 0  # noqa: S603


def test_functions_declare_their_event_sources() -> None:
    sources = {name: spec.event_sources(Settings()) for name, spec in FUNCTIONS.items()}
    answering = {name for name, found in sources.items() if Endpoints() in found}
    assert answering == {route.function for route in ROUTES}
    every = [source for found in sources.values() for source in found]
    readers = [source.construct for source in every if isinstance(source, StreamRecords)]
    assert sorted(readers) == ["Pushes", "Stream"]
    rules = [f"{source.construct}/{source.name}" for source in every if isinstance(source, Schedule)]
    assert sorted(rules) == ["DeliverySchedule/Webhooks", "Schedules/Check", "Schedules/Jobs", "Sockets/End"]


def test_only_functions_that_serve_callers_have_session_grants() -> None:
    serving = {name for name, spec in FUNCTIONS.items() if spec.session_grants}
    assert serving == {"query", "command", "live", "socket"}
    assert {name for name, spec in FUNCTIONS.items() if spec.tenantless_grants} == {"socket"}


def test_platform_and_tracing(template: dict[str, Any]) -> None:
    for logical_id, function in functions_of(template).items():
        assert function["Runtime"] == "python3.13"
        assert function["Architectures"] == ["arm64"]
        assert function["Handler"] == "handler.handler"
        traced = NAMES[logical_id] in {"query", "command"}
        assert function["TracingConfig"] == {"Mode": "Active" if traced else "PassThrough"}
        of_the_api = any(route.function == NAMES[logical_id] for route in ROUTES)
        assert function["Timeout"] <= (29 if of_the_api else 60)


def test_readers_of_documents_are_upgraded_before_their_writer(template: dict[str, Any]) -> None:
    """A deleted issue is a document with a mark: older code would take it for a present one."""
    waits_for = template["Resources"]["CommandFunction"]["DependsOn"]
    assert {"QueryFunction", "MaintainFunction", "UpkeepFunction"} <= {*waits_for}


def test_functions_with_background_work_get_the_settling_time(template: dict[str, Any]) -> None:
    """Readers of the former epoch have ended, and their writes have arrived."""
    functions = functions_of(template)
    seconds = {
        NAMES[logical_id]: function["Environment"]["Variables"].get("SETTLE_SECONDS")
        for logical_id, function in functions.items()
    }
    assert seconds == {
        "query": None,
        "command": str(SETTLE_SECONDS),
        "live": None,
        "socket": None,
        "deliver": None,
        "maintain": None,
        "upkeep": str(SETTLE_SECONDS),
    }
    for function in functions.values():
        assert function["Timeout"] + CLOCK_MARGIN <= SETTLE_SECONDS


def test_a_function_waits_for_its_permissions(template: dict[str, Any]) -> None:
    """Lambda refuses a traced function whose role may not send traces."""
    for logical_id in NAMES:
        function = template["Resources"][logical_id]
        role = function["Properties"]["Role"]["Fn::GetAtt"][0]
        granted = {
            policy_id
            for policy_id, policy in resources(template, "AWS::IAM::Policy").items()
            if {"Ref": role} in policy["Roles"] and not policy_id.startswith(("Stream", "Sockets"))
        }
        assert len(granted) == (2 if function["Properties"]["TracingConfig"]["Mode"] == "Active" else 1)
        assert granted <= set(function["DependsOn"])


def test_environment(template: dict[str, Any]) -> None:
    extra = {
        "query": {"CURSOR_SECRET_ARN", "SESSION_ROLE_ARN", "EXPORT_BUCKET", "LONG_QUERY_PERCENT"},
        "live": {"CURSOR_SECRET_ARN", "SESSION_ROLE_ARN", "SOCKET_URL", "POLLS_PER_TENANT"},
        "socket": {"CURSOR_SECRET_ARN", "SESSION_ROLE_ARN", "AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI"},
        "command": {
            *("CURSOR_SECRET_ARN", "SESSION_ROLE_ARN", "WEBHOOK_SECRET_ARN", "STORED_FORM", "SETTLE_SECONDS"),
            *("JOB_QUEUE_URL", "WEBHOOK_QUEUE_URL", "PROJECTS_PER_TENANT", "WRITES_PER_SECOND"),
        },
        "deliver": {
            *("WEBHOOK_SECRET_ARN", "RES_OPTIONS"),
            *("WEBHOOK_QUEUE_URL", "WEBHOOK_RETRY_QUEUE_URL"),
        },
        "maintain": {
            *("STORED_FORM", "FOLD_WEIGHT", "FOLD_SECONDS"),
            *("DEAD_LETTER_QUEUE_URL", "FAILED_BATCHES_BUCKET", "JOB_QUEUE_URL", "WEBHOOK_QUEUE_URL"),
        },
        "upkeep": {
            *("STORED_FORM", "FOLD_WEIGHT", "FOLD_SECONDS", "SETTLE_SECONDS"),
            *("DEAD_LETTER_QUEUE_URL", "FAILED_BATCHES_BUCKET", "JOB_QUEUE_URL"),
            *("EXPORT_BUCKET", "USER_POOL_ID", "WRITES_PER_SECOND"),
        },
    }
    for logical_id, function in functions_of(template).items():
        name = NAMES[logical_id]
        variables = function["Environment"]["Variables"]
        assert set(variables) == extra[name] | {
            "TABLE_NAME",
            "TRANSPORT",
            "POWERTOOLS_SERVICE_NAME",
            "POWERTOOLS_METRICS_NAMESPACE",
            "POWERTOOLS_LOG_LEVEL",
            "STACK_NAME",
        }
        assert variables["POWERTOOLS_SERVICE_NAME"] == name
        assert variables["POWERTOOLS_METRICS_NAMESPACE"] == "gridview"
        assert variables["STACK_NAME"] == "Gridview"
        assert variables["TRANSPORT"] == "direct"


def test_every_function_gets_the_chosen_transport(chosen_template: dict[str, Any]) -> None:
    functions = functions_of(chosen_template).values()
    assert {function["Environment"]["Variables"]["TRANSPORT"] for function in functions} == {"botocore"}


def test_functions_that_write_derived_data_or_definitions_get_the_form_to_write(
    template: dict[str, Any], chosen_template: dict[str, Any]
) -> None:
    for of, written in ((template, NEWEST), (chosen_template, OLDEST)):
        forms = {
            NAMES[logical_id]: function["Environment"]["Variables"]["STORED_FORM"]
            for logical_id, function in functions_of(of).items()
            if "STORED_FORM" in function["Environment"]["Variables"]
        }
        assert forms == dict.fromkeys(("command", "maintain", "upkeep"), str(written))
        assert of["Outputs"]["StoredFormWritten"]["Value"] == str(written)
        assert of["Outputs"]["StoredFormRead"]["Value"] == str(NEWEST)


def test_the_consumer_and_upkeep_have_the_same_pace_of_folds(
    template: dict[str, Any], chosen_template: dict[str, Any]
) -> None:
    for of, pace in ((template, ("256", "900")), (chosen_template, ("100", "60"))):
        paces = {
            NAMES[logical_id]: (variables["FOLD_WEIGHT"], variables["FOLD_SECONDS"])
            for logical_id, function in functions_of(of).items()
            if "FOLD_WEIGHT" in (variables := function["Environment"]["Variables"])
        }
        assert paces == dict.fromkeys(("maintain", "upkeep"), pace)


def test_functions_that_write_for_users_get_the_rate_of_writes(
    chosen_template: dict[str, Any],
) -> None:
    rates = {
        NAMES[logical_id]: function["Environment"]["Variables"].get("WRITES_PER_SECOND")
        for logical_id, function in functions_of(chosen_template).items()
    }
    assert {name: rate for name, rate in rates.items() if rate} == {"command": "50", "upkeep": "50"}


def test_the_limit_of_projects_is_known_to_the_function_that_creates_them(
    template: dict[str, Any], chosen_template: dict[str, Any]
) -> None:
    for of, most in ((template, "1000"), (chosen_template, "5")):
        command = functions_of(of)["CommandFunction"]
        assert command["Environment"]["Variables"]["PROJECTS_PER_TENANT"] == most


def test_jobs_ask_the_pool_of_the_stack_for_the_rights_of_their_users(template: dict[str, Any]) -> None:
    (pool,) = resources(template, "AWS::Cognito::UserPool")
    upkeep = functions_of(template)["UpkeepFunction"]
    assert upkeep["Environment"]["Variables"]["USER_POOL_ID"] == {"Ref": pool}


def test_the_rate_of_writes_lets_no_other_function_write(
    shared_template: dict[str, Any], chosen_template: dict[str, Any]
) -> None:
    assert _table_actions(chosen_template, "QueryFunction") == _table_actions(
        shared_template, "QueryFunction"
    )
    assert not {"dynamodb:PutItem", "dynamodb:UpdateItem"} & _table_actions(chosen_template, "QueryFunction")
    assert "dynamodb:UpdateItem" in _table_actions(chosen_template, "CommandFunction")


def _table_actions(template: dict[str, Any], function: str) -> set[str]:
    role = template["Resources"][function]["Properties"]["Role"]["Fn::GetAtt"][0]
    actions: set[str] = set()
    for policy in resources(template, "AWS::IAM::Policy").values():
        if {"Ref": role} in policy["Roles"]:
            for statement in policy["PolicyDocument"]["Statement"]:
                named = statement["Action"]
                actions |= {named} if isinstance(named, str) else set(named)
    return {action for action in actions if action.startswith("dynamodb:")}


def test_every_log_group_forgets(template: dict[str, Any]) -> None:
    groups = resources(template, "AWS::Logs::LogGroup")
    assert all(group["RetentionInDays"] == 90 for group in groups.values())
    for function in functions_of(template).values():
        assert function["LoggingConfig"]["LogGroup"]["Ref"] in groups


def test_functions_of_the_api_start_from_snapshots(template: dict[str, Any]) -> None:
    functions = functions_of(template)
    snapped = {logical_id for logical_id, function in functions.items() if "SnapStart" in function}
    assert snapped == {"QueryFunction", "CommandFunction"}
    versions = resources(template, "AWS::Lambda::Version")
    published = {version["FunctionName"]["Ref"] for version in versions.values()}
    assert published == snapped
    for alias in resources(template, "AWS::Lambda::Alias").values():
        assert alias["Name"] == "live"
        assert alias["FunctionVersion"]["Fn::GetAtt"][0] in versions


def test_a_region_without_snapshots_is_refused_by_the_name_of_the_setting(
    template: dict[str, Any], chosen_template: dict[str, Any]
) -> None:
    (assertion,) = template["Rules"]["SnapStartInRegion"]["Assertions"]
    (contained,) = assertion["Assert"]["Fn::Not"]
    assert contained == {"Fn::Contains": [["ap-east-2", "ap-southeast-6"], {"Ref": "AWS::Region"}]}
    assert "-c snap-start=false" in assertion["AssertDescription"]
    assert "SnapStartInRegion" not in chosen_template.get("Rules", {})


def test_another_platform(local_template: dict[str, Any]) -> None:
    for function in functions_of(local_template).values():
        assert function["Runtime"] == SETTINGS.runtime
        assert function["Architectures"] == [SETTINGS.architecture]
        assert "SnapStart" not in function
    # Callers use the alias anyway, so that the switch to snapshots changes no address.
    assert len(resources(local_template, "AWS::Lambda::Alias")) == 2


def test_outputs(template: dict[str, Any]) -> None:
    assert template["Outputs"]["Version"]["Value"] == VERSION
    assert set(template["Outputs"]) == {
        "Version",
        "ApiUrl",
        "SocketUrl",
        "PageUrl",
        "PageBucket",
        "DomainTarget",
        "UserPoolId",
        "UserPoolClientId",
        "TableName",
        "CursorSecretArn",
        "WebhookSecretArn",
        "Isolation",
        "DeadLetterQueueUrl",
        "ExportBucket",
        "FailedBatchesBucket",
        "AlarmTopicArn",
        "Protected",
        "ReservedConcurrency",
        "StoredFormRead",
        "StoredFormWritten",
    }
