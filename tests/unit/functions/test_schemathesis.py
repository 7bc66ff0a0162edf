"""schemathesis over the local server: requests that the OpenAPI document allows are accepted, others refused, and no
answer is a 5xx.

All checks of schemathesis are on, in three passes. Valid requests follow a document with the project's fields, states
and values; invalid requests follow the API's own. The third pass is sequences of calls. Each request of the first two
meets the same project. `./dev prove` has more examples.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.core.transport import Response
from schemathesis.engine import events, from_schema
from schemathesis.engine.recorder import ScenarioRecorder
from schemathesis.generation import GenerationMode
from schemathesis.generation.case import Case
from schemathesis.transport.wsgi import WSGI_TRANSPORT

from gridview.dynamodb.metering import Meter
from gridview.encoding.consistency import DELETED, ConsistencyTokens
from gridview.encoding.json_codec import loads
from gridview.schema.fields import FieldType
from infra.routes import ROUTES
from tests.support import cloud, local_api, nasty, project_schema, recorded_changes, user_jobs, webhooks
from tests.support.cloud import Cloud
from tests.support.depth import one_of
from tests.support.http import Handler
from tests.support.project_schema import Project

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

SEED = 20230501
EXAMPLES = one_of(1, thorough=10)
"""Random requests of each operation, beside those at the bounds of the schema."""

EVERY = one_of(2)
"""One of so many operations is called, the others in `./dev prove`. Sequences of calls use all of them."""

CALLED = ROUTES[::EVERY]

_TOKENS = ConsistencyTokens([cloud.ENVIRONMENT["CURSOR_SECRET"].encode()])
_NEVER = 2**32 - 61
"""A moment after which tokens do not expire before the time of their form ends."""

PROJECT = Project(
    id="nasty",
    fields={
        "num": FieldType.NUMBER,
        "name": FieldType.TEXT,
        "state": FieldType.ENUM,
        "created": FieldType.DATETIME,
        "updated": FieldType.DATETIME,
        **{attribute["id"]: FieldType(attribute["type"]) for attribute in nasty.ATTRIBUTES},
    },
    options={"state": nasty.STATES, "level": nasty.OPTIONS, "labels": nasty.OPTIONS},
    attributes=[attribute["id"] for attribute in nasty.ATTRIBUTES],
    issues=[1, 2, 3, 4],
    indexes=["c1"],
    views=["v1"],
    webhooks=["w3k9q2m7x1c0z"],
    deliveries=[webhooks.DELIVERY],
    comments=[1],
    jobs=[user_jobs.JOB],
    tokens=[_TOKENS.token("0807", "nasty", versions, _NEVER) for versions in ({1: 1}, {2: 1, 99: DELETED})],
)

_ROWS = (r"400 rows\.to must not be less than from", r"422 A job can take at most .* rows.*")
_CURSOR = r"400 cursor does not belong to this query"
_OPTIONS = (
    r"400 (states|options)\.\d+\.id is not the id of an option",
    r"400 (states|options) must not contain a value or an id twice",
)
_SETTINGS = (
    r"400 default must be (a|true|one|an|at|zero|smaller) .*",
    r"400 default must not .*",
    r"400 format\.as (must be one of .* for the type|does not exist for the type) \w+",
    r"400 format\.\w+ does not belong to the format \w+",
    r"400 format\.currency (is required|is not a code of ISO 4217)",
)
"""The formats and values of a field depend on its type."""
_FILTER = r"400 filter must be an object"
_RULES = r"400 rules must be an array"
_POSITION = r"400 position must be at most \d+"
_STALE = r"412 The resource is at version \d+ now\. .*"
_EVENTS = (
    r"400 events must not name an event twice",
    r"400 events must be among (create, update, delete, restore|enter, leave, update)",
)
"""The allowed events depend on whether the webhook has a view."""
_VIEW = r"400 view must be a view that all users of the project see"
_GONE = (
    r"400 fields\.\w+ is not a known property",
    r"400 \S+ is not a field of the project",
    r"400 X-Change-Id must be a UUID such as \S+ and be sent once",
)
"""Refusals that only calls in sequence meet: about an attribute that an earlier call deleted.

Also about any id of an answer that schemathesis takes for that of a change.
"""

_BINS = (
    r"400 (by|groups)\.\d+\.(bins|width) can be used only with number fields",
    r"400 (by|groups)\.\d+\.(bins\.\d+|width) must be (smaller|zero) .*in magnitude.*",
)
_LOOK = (
    *_BINS,
    r"400 group_order\.field is (required for this function|not a number field)",
    r"400 group_order\.function \w+ cannot order groups",
    r"400 (columns|footers)\.\d+\.field must not be named twice",
    r"400 groups\.\d+\.timezone must be the name of a time zone, such as Europe/London",
    r"400 groups\.\d+\.timezone can be used only with the unit of a datetime field",
    r"400 groups\.\d+\.unit can be used only with date and datetime fields",
    r"400 footers\.\d+\.function can be used only with number fields",
    r"400 color_by must be a field whose options have colors",
    r"400 board is required for a board",
    r"400 board\.by must be a field with one option, a user or a yes/no value, which users can change",
    r"400 board\.columns\.\d+\.value (must be|is required|must not be named twice).*",
    r"400 board\.card\.\d+ must not be named twice",
    r"400 board\.aggregate\.field is not a number field",
)
_MANUAL = (
    r"400 (query\.|rows\.)?sort can have no other key beside a manual order",
    r"400 sort\.0\.manual is not a view with a manual order",
    r"400 query\.sort\.0\.manual (must be the id of the view itself|is not possible .*)",
)
"""Only some views have a manual order, and only their own."""
_NOBODY = (r"400 mentions\.\d+ is not a user of the tenant",)

MEANT: dict[str, tuple[str, ...]] = {
    "list_projects": (_CURSOR,),
    "list_users": (_CURSOR,),
    "list_comments": (_CURSOR,),
    "create_comment": _NOBODY,
    "update_comment": (*_NOBODY, _STALE),
    "delete_comment": (_STALE,),
    "list_views": (_CURSOR,),
    "issue_history": (_CURSOR,),
    "activity": (
        _CURSOR,
        r"400 to must be later than from",
        r"400 field must be a field that users can change",
        r"400 field is not a field of the project",
    ),
    "changes": (
        r"400 since is not a cursor of this project's changes",
        r"400 (sort|filter) cannot be combined with view",
        _FILTER,
    ),
    "list_trash": (_CURSOR,),
    "purge_issue": (_STALE,),
    "create_view": _LOOK,
    "update_view": (*_LOOK, _STALE, r"400 place must be at most \d+"),
    "delete_view": (_STALE,),
    "place_rows": (
        r"400 (before|after) must not be one of nums",
        r"400 nums must not name an issue twice: .*",
        r"400 body must have exactly one of before, after",
    ),
    "create_project": _OPTIONS,
    "update_project": (*_OPTIONS, _STALE),
    "delete_project": (_STALE,),
    "list_deleted_projects": (_CURSOR,),
    "purge_project": (_STALE,),
    "create_attribute": (
        *_OPTIONS,
        r"400 options only attributes of the types enum and multi_enum have options",
        r"400 search only attributes of the type text can be searched for words",
        *_SETTINGS,
        _POSITION,
        r"400 formula The formula is a number, but the type of the field is \w+\. Change one of them\.",
        r"400 formula cannot be combined with \w+: only attributes whose values are stored have that",
        r"400 formula only attributes of the types .* have formulas",
    ),
    "update_attribute": (
        *_OPTIONS,
        r"400 options only attributes of the types enum and multi_enum have options",
        r"400 search only attributes of the type text can be searched for words",
        *_SETTINGS,
        _POSITION,
        _STALE,
        r"400 formula cannot be given to an attribute whose values are stored",
    ),
    "delete_attribute": (_STALE,),
    "purge_attribute": (_STALE,),
    "create_index": (
        r"400 sort\.\d+\.field cannot be a key: issues with equal keys are sorted by number already",
        r"400 sort\.\d+\.field must not be repeated",
    ),
    "delete_index": (_STALE,),
    "create_webhook": (*_EVENTS, _VIEW),
    "update_webhook": (*_EVENTS, _VIEW, _STALE),
    "delete_webhook": (_STALE,),
    "update_matching": (
        *_ROWS,
        r"400 (set|replace|copy) (is required, or replace or copy|cannot be combined with \w+)",
        r"400 replace\.fields(\.\d+)? (is not a text field that can be written|must not name a field twice)",
        r"400 copy\.to (must be another field than from|is not a field that can be written)",
    ),
    "delete_matching": _ROWS,
    "export": (
        r"400 query\.(sort|filter|columns) cannot be combined with view",
        r"400 query\.columns must not name a field twice",
    ),
    "undo": (r"400 X-Change-Id must not be the change to undo",),
    "list_jobs": (_CURSOR,),
    "list_refused": (_CURSOR,),
    "list_deliveries": (_CURSOR,),
    "update_issue": (_STALE,),
    "delete_issue": (_STALE,),
    "grid": (_CURSOR, r"400 offset cannot be combined with cursor"),
    "grid_get": (_CURSOR, r"400 offset cannot be combined with cursor", _FILTER, _RULES),
    "row_number": (_FILTER,),
    "groups": (
        _CURSOR,
        r"400 by\.\d+\.timezone must be the name of a time zone, such as Europe/London",
        r"400 by\.\d+\.timezone can be used only with the unit of a datetime field",
        r"400 by\.\d+\.unit can be used only with date and datetime fields",
        *_BINS,
        r"400 order\.by is not the place of an aggregate",
    ),
    "check_formula": (
        r"400 formula .*",
        r"400 attribute is not a computed attribute of the project",
        r"400 type only attributes of the types .* have formulas",
        r"400 nums must not name an issue twice: \d+",
    ),
    "summary": (
        r"400 fields\.\d+\.functions\.\d+ can be used only with number fields",
        r"400 fields\.\d+\.field must not be named twice",
    ),
}
"""By operation, the refusals of requests that its schema allows: status, field and message of each error, or the
detail.
"""


@pytest.fixture(scope="module")
def world(shared_account: Cloud) -> Cloud:
    """A project with a field of every type, and four issues."""
    api = shared_account.api()
    api.made("/v1/projects", {"id": PROJECT.id, "name": "Nasty", "states": nasty.STATES})
    path = f"/v1/projects/{PROJECT.id}"
    for attribute in nasty.ATTRIBUTES:
        api.made(f"{path}/attributes", {**attribute, "indexed": True})
    api.made(f"{path}/indexes", {"sort": [{"field": "level"}, {"field": "amount"}]})
    api.made(f"{path}/views", {"name": "First", "visibility": "shared"})
    for num in PROJECT.issues:
        api.made(f"{path}/issues", {"name": f"{num}", "fields": nasty.VALUES})
    for num in PROJECT.issues:
        api.made(f"{path}/issues/{num}/comments", {"text": "First"})
    shared_account.derive()
    shared_account.upkeep()
    for webhook in PROJECT.webhooks:
        shared_account.table.put(webhooks.stored(webhook, project=PROJECT.id))
        shared_account.table.put(webhooks.delivered(webhook, project=PROJECT.id))
    shared_account.table.put(user_jobs.stored(project=PROJECT.id))
    recorded_changes.put(shared_account.table, project=PROJECT.id)
    return shared_account


@pytest.fixture(autouse=True)
def _options_of_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Adapt the requests that a check of schemathesis sends itself: it passes WSGI options that only sockets have."""
    send, of_sockets = WSGI_TRANSPORT.send, ("max_redirects", "verify", "cert", "proxies")

    def without(case: Case[Any], **options: Any) -> Response:
        kept = {name: value for name, value in options.items() if name not in of_sockets}
        return send(case, **kept)

    monkeypatch.setattr(WSGI_TRANSPORT, "send", without)


def uncompressed(application: "WSGIApplication") -> "WSGIApplication":
    """The application for a client that does not decompress."""

    def app(environ: "WSGIEnvironment", start: "StartResponse") -> Any:
        environ.pop("HTTP_ACCEPT_ENCODING", None)
        return application(environ, start)

    return app


def on_a_copy(world: Cloud, name: str) -> Handler:
    """A handler that uses a copy of the world for each request."""

    def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:
        table = world.table.copy(Meter())
        for module in world.modules.values():
            module.table = table  # type: ignore[attr-defined]
        answer: dict[str, Any] = world.modules[name].handler(event, context)
        return answer

    return handle


def meant(operation: str, phases: tuple[str, ...]) -> tuple[str, ...]:
    """The expected refusals of an operation's valid requests in these phases."""
    return (*MEANT.get(operation, ()), *_MANUAL, *(_GONE if "stateful" in phases else ()))


def settings(mode: str, phases: tuple[str, ...]) -> dict[str, Any]:
    """All checks, with the expected refusals as allowed statuses; `refusals` checks their words.

    The API's own document leaves a project's fields open. A valid request in the pass of invalid ones may therefore
    name another field: 400.
    """
    statuses = {
        route.operation: sorted(
            {word[:3] for word in meant(route.operation, phases)}
            | {"2xx", "401", "403", "404", "409", "429", *(("400", "412") if mode == "negative" else ())}
        )
        for route in ROUTES
    }
    return {
        "seed": SEED,
        "continue-on-failure": True,
        "headers": {"Authorization": f"Bearer {local_api.token()}"},
        "generation": {"mode": mode, "max-examples": EXAMPLES, "database": "none", "deterministic": True},
        "phases": {
            name: {"enabled": name in phases} for name in ("examples", "coverage", "fuzzing", "stateful")
        },
        "operations": [
            {
                "include-operation-id": name,
                "enabled": "stateful" in phases or name in {route.operation for route in CALLED},
                "checks": {"positive_data_acceptance": {"expected-statuses": allowed}},
            }
            for name, allowed in statuses.items()
        ],
    }


def run(
    application: "WSGIApplication", document: dict[str, Any], mode: str, *phases: str
) -> tuple[list[str], Counter[str]]:
    """The findings, and how many requests of each operation were made."""
    config = SchemathesisConfig.from_dict(settings(mode, phases))
    schema = schemathesis.openapi.from_dict(document, config=config)
    schema.app = uncompressed(application)
    findings: list[str] = []
    made: Counter[str] = Counter()
    for event in from_schema(schema).execute():
        if isinstance(event, events.NonFatalError):
            findings.append(f"{event.label}: {event.value!r}")
        elif isinstance(event, events.FatalError):
            raise event.exception
        elif isinstance(event, events.ScenarioFinished):
            made.update(
                str(node.value.operation.definition.raw.get("operationId"))
                for node in event.recorder.cases.values()
            )
            findings += failures(event.recorder)
            if mode == "positive":
                findings += refusals(event.recorder, phases)
    return findings, made


def failures(recorder: ScenarioRecorder) -> Iterator[str]:
    """The findings of schemathesis's checks."""
    for checks in recorder.checks.values():
        for check in checks:
            if check.failure_info is not None:
                failure = check.failure_info.failure
                yield f"{check.name}: {failure.title}: {failure.message}\n{check.failure_info.code_sample}"


def refusals(recorder: ScenarioRecorder, phases: tuple[str, ...]) -> Iterator[str]:
    """Unexpected refusals of valid requests."""
    for name, node in recorder.cases.items():
        case, interaction = node.value, recorder.interactions.get(name)
        response = interaction.response if interaction is not None else None
        valid = case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE
        if valid and response is not None and response.status_code in (400, 412, 413, 422):
            allowed = meant(case.operation.definition.raw["operationId"], phases)
            for word in words_of(response):
                if not any(re.fullmatch(one, word) for one in allowed):
                    yield f"{case.operation.label}: {word}"


def words_of(response: Response) -> list[str]:
    problem = loads(response.content)
    errors = [f"{error['field']} {error['message']}" for error in problem.get("errors", ())]
    return [f"{response.status_code} {word}" for word in errors or [problem["detail"]]]


def test_every_meant_refusal_is_of_an_operation() -> None:
    assert MEANT.keys() <= {route.operation for route in ROUTES}


def test_valid_requests_are_taken(world: Cloud) -> None:
    app = local_api.served({name: on_a_copy(world, name) for name in ("query", "command", "live")})
    findings, made = run(
        app, project_schema.constrained_to(PROJECT), "positive", "examples", "coverage", "fuzzing"
    )
    assert not findings, "\n".join(findings)
    assert made.keys() == {route.operation for route in CALLED}


def test_invalid_requests_are_refused(world: Cloud) -> None:
    app = local_api.served({name: on_a_copy(world, name) for name in ("query", "command", "live")})
    findings, made = run(app, project_schema.addressed_to(PROJECT), "negative", "coverage", "fuzzing")
    assert not findings, "\n".join(findings)
    assert made.keys() >= {route.operation for route in CALLED if route.role is not None}


def test_calls_follow_each_other(world: Cloud) -> None:
    table = world.table.copy(Meter())
    for module in world.modules.values():
        module.table = table  # type: ignore[attr-defined]
    findings, made = run(
        local_api.served(world.handlers), project_schema.constrained_to(PROJECT), "positive", "stateful"
    )
    assert not findings, "\n".join(findings)
    assert made
