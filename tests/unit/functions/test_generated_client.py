"""A client that openapi-python-client generates from the OpenAPI document carries out the worked example."""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import httpx
import pytest

from gridview.encoding.json_codec import dumps
from infra.openapi.document import document
from infra.routes import ROUTES
from tests.support import local_api, worked_example
from tests.support.cloud import Cloud

PACKAGE = "generated_gridview_client"


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The package. Its generation has no warning."""
    folder = tmp_path_factory.mktemp("client")
    (folder / "openapi.json").write_bytes(dumps(document()))
    # The hooks only tidy the code up; no test needs them.
    (folder / "settings.json").write_text(json.dumps({"post_hooks": []}))
    options = {"path": "openapi.json", "config": "settings.json", "output-path": PACKAGE, "meta": "none"}
    ended = subprocess.run(  # noqa: S603  (this interpreter)
        [
            *(sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning"),
            *(f"--{name}={value}" for name, value in options.items()),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout.strip(), ended.stderr) == (0, f"Generating {PACKAGE}", "")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module(PACKAGE)
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


class Api:
    """The generated functions and models by their names, called over the local server's application."""

    def __init__(self, generated: ModuleType, account: Cloud) -> None:
        self._models = importlib.import_module(f"{generated.__name__}.models")
        self._calls = {
            route.operation: importlib.import_module(
                f"{generated.__name__}.api.{route.tag.lower()}.{route.operation}"
            )
            for route in ROUTES
        }
        self._client: Any = importlib.import_module(f"{generated.__name__}.client").AuthenticatedClient(
            base_url="http://gridview.test",
            token=local_api.token(),
            raise_on_unexpected_status=True,
            httpx_args={"transport": httpx.WSGITransport(app=local_api.served(account.handlers))},
        )

    def model(self, name: str, document: Any) -> Any:
        """An object of a model."""
        return getattr(self._models, name).from_dict(document)

    def call(self, name: str, *path: Any, **arguments: Any) -> Any:
        """The result of a call: an object of a model, or a problem."""
        return self._calls[name].sync(*path, client=self._client, **arguments)


@pytest.fixture
def api(generated: ModuleType, account: Cloud) -> Api:
    return Api(generated, account)


@pytest.fixture
def bridge(api: Api, account: Cloud) -> str:
    """The worked example, created by the generated client and indexed."""
    project = api.call(
        "create_project",
        body=api.model("ProjectCreate", {"id": worked_example.PROJECT, "name": "Forth Rail Bridge"}),
    )
    for attribute in worked_example.ATTRIBUTES:
        made = api.call("create_attribute", project.id, body=api.model("AttributeCreate", attribute))
        assert (made.id, made.type_.value) == (attribute["id"], attribute["type"])
    for num, issue in enumerate(worked_example.ISSUES, 1):
        made = api.call("create_issue", project.id, body=api.model("IssueCreate", issue))
        assert (made.num, made.name, made.fields.to_dict()) == (num, issue["name"], issue["fields"])
    account.derive()
    found: str = project.id
    return found


def test_it_has_every_call(api: Api, bridge: str) -> None:
    assert api.call("health").status == "ok"
    me = api.call("me")
    assert [(one.id, one.name) for one in api.call("list_users").items] == [(me.id, me.name)]
    assert [one.id for one in api.call("list_projects").items] == [bridge]
    assert [one.id for one in api.call("get_project", bridge).attributes] == ["3812", "882a", "3fe6", "47e5"]


@pytest.mark.parametrize(
    ("field", "direction", "expected"),
    [
        ("3812", "asc", [1, 2, 3]),
        ("3812", "desc", [2, 1, 3]),
        ("3fe6", "asc", [3, 1, 2]),
        ("47e5", "desc", [3, 2, 1]),
    ],
)
def test_it_sorts(api: Api, bridge: str, field: str, direction: str, expected: list[int]) -> None:
    request = api.model("GridRequest", {"sort": [{"field": field, "direction": direction}]})
    page = api.call("grid", bridge, body=request)
    assert [row.num for row in page.rows] == expected


def test_it_filters_and_groups(api: Api, bridge: str) -> None:
    wanted = {
        "and": [
            {"field": "state", "op": "eq", "value": "open"},
            {"not": {"field": "47e5", "op": "is_empty"}},
            {
                "or": [
                    {"field": "3fe6", "op": "in", "value": [41, 42]},
                    {"field": "num", "op": "lt", "value": 2},
                ]
            },
        ]
    }
    request = api.model("GridRequest", {"filter": wanted, "count": True, "explain": True})
    assert request.to_dict()["filter"] == wanted
    page = api.call("grid", bridge, body=request)
    assert [(row.num, row.fields["3fe6"]) for row in page.rows] == [(3, 42)]
    assert (page.matched, page.total) == (1, 3)
    assert page.explain.tree.node == "grid page"
    by_state = api.model(
        "GroupsRequest", {"by": ["state"], "aggregates": [{"field": "3fe6", "function": "sum"}]}
    )
    groups = api.call("groups", bridge, body=by_state).groups
    assert [(group.values, group.count, group.aggregates[0].value) for group in groups] == [
        (["open"], 2, 42),
        (["closed"], 1, None),
    ]
    for group in groups:
        rows = api.model("GridRequest", {"filter": group.filter_.to_dict(), "count": True})
        assert api.call("grid", bridge, body=rows).matched == group.count


def test_it_changes_an_issue_of_the_version_that_it_has_seen(api: Api, bridge: str) -> None:
    patch = api.model("IssuePatch", {"state": "closed", "fields": {"882a": None}})
    changed = api.call("update_issue", bridge, 1, body=patch, if_match='"1"')
    assert (changed.version, changed.state, changed.fields.to_dict()) == (2, "closed", {"3812": "2023-05-01"})
    late = api.call("update_issue", bridge, 1, body=patch, if_match='"1"')
    assert (type(late).__name__, late.status, late.type_) == ("Problem", 412, "version-mismatch")
    wrong = api.call("update_issue", bridge, 1, body=api.model("IssuePatch", {"fields": {"3812": "soon"}}))
    assert [(one.field, wrong.status) for one in wrong.errors] == [("fields.3812", 400)]


def test_it_writes_a_batch(api: Api, bridge: str) -> None:
    operations = [
        {"create": {"name": "Scaffold"}},
        {"update": {"num": 2, "state": "open"}},
        {"delete": {"num": 3}},
    ]
    batch = api.model("BatchRequest", {"operations": operations})
    answers = [api.call("batch", bridge, body=batch, idempotency_key="once") for _ in range(2)]
    assert answers[0] == answers[1]
    assert [result.status for result in answers[0].results] == [201, 200, 204]
    assert answers[0].results[0].issue.num == 4
    minimal = api.model("BatchRequest", {"operations": operations[:2], "return": "minimal"})
    created, updated = api.call("batch", bridge, body=minimal).results
    assert (created.num, created.version, updated.version) == (5, 1, 2)


def test_it_colors_the_states(api: Api, bridge: str) -> None:
    patch = api.model("ProjectPatch", {"states": [{"value": "open", "color": "green"}, "closed"]})
    opened, closed = api.call("update_project", bridge, body=patch).states
    assert (opened.id, opened.value, opened.color.value) == ("o1", "open", "green")
    assert (closed.id, closed.value, closed.color) == ("o2", "closed", None)
