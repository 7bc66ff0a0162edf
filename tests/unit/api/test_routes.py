"""The routes that endpoints declare: complete and unambiguous."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gridview
from gridview.api.paths import EVERY_PATH
from gridview.commands.actor import Role
from infra.paths import ROOT
from infra.routes import BY_KEY, BY_PATH, DECLARED, METHODS, REFUSES, ROUTES, resources

CORE = Path(str(gridview.__file__)).parents[1]

CONTRACT = {
    "GET /v1/health": None,
    "GET /v1/openapi.json": None,
    "GET /v1/projects": Role.VIEWER,
    "POST /v1/projects": Role.ADMIN,
    "GET /v1/me": Role.VIEWER,
    "GET /v1/users": Role.VIEWER,
    "GET /v1/projects/{project}": Role.VIEWER,
    "PATCH /v1/projects/{project}": Role.ADMIN,
    "DELETE /v1/projects/{project}": Role.ADMIN,
    "GET /v1/deleted-projects": Role.ADMIN,
    "POST /v1/deleted-projects/{project}/restore": Role.ADMIN,
    "DELETE /v1/deleted-projects/{project}": Role.ADMIN,
    "POST /v1/projects/{project}/attributes": Role.ADMIN,
    "GET /v1/projects/{project}/attributes/{attribute}": Role.VIEWER,
    "PATCH /v1/projects/{project}/attributes/{attribute}": Role.ADMIN,
    "DELETE /v1/projects/{project}/attributes/{attribute}": Role.ADMIN,
    "GET /v1/projects/{project}/deleted-attributes": Role.ADMIN,
    "POST /v1/projects/{project}/deleted-attributes/{attribute}/restore": Role.ADMIN,
    "DELETE /v1/projects/{project}/deleted-attributes/{attribute}": Role.ADMIN,
    "GET /v1/projects/{project}/indexes": Role.VIEWER,
    "POST /v1/projects/{project}/indexes": Role.ADMIN,
    "GET /v1/projects/{project}/indexes/{index}": Role.VIEWER,
    "DELETE /v1/projects/{project}/indexes/{index}": Role.ADMIN,
    "GET /v1/projects/{project}/webhooks": Role.ADMIN,
    "POST /v1/projects/{project}/webhooks": Role.ADMIN,
    "GET /v1/projects/{project}/webhooks/{webhook}": Role.ADMIN,
    "PATCH /v1/projects/{project}/webhooks/{webhook}": Role.ADMIN,
    "DELETE /v1/projects/{project}/webhooks/{webhook}": Role.ADMIN,
    "POST /v1/projects/{project}/webhooks/{webhook}/rotate": Role.ADMIN,
    "GET /v1/projects/{project}/webhooks/{webhook}/deliveries": Role.ADMIN,
    "POST /v1/projects/{project}/webhooks/{webhook}/deliveries/{delivery}/replay": Role.ADMIN,
    "POST /v1/projects/{project}/issues": Role.EDITOR,
    "POST /v1/projects/{project}/issues/batch": Role.EDITOR,
    "GET /v1/projects/{project}/issues/{num}": Role.VIEWER,
    "PATCH /v1/projects/{project}/issues/{num}": Role.EDITOR,
    "DELETE /v1/projects/{project}/issues/{num}": Role.EDITOR,
    "GET /v1/projects/{project}/trash": Role.VIEWER,
    "POST /v1/projects/{project}/trash/{num}/restore": Role.EDITOR,
    "DELETE /v1/projects/{project}/trash/{num}": Role.ADMIN,
    "POST /v1/projects/{project}/grid": Role.VIEWER,
    "GET /v1/projects/{project}/grid": Role.VIEWER,
    "POST /v1/projects/{project}/groups": Role.VIEWER,
    "POST /v1/projects/{project}/summary": Role.VIEWER,
    "POST /v1/projects/{project}/formulas/check": Role.VIEWER,
    "GET /v1/projects/{project}/issues/{num}/row-number": Role.VIEWER,
    "GET /v1/projects/{project}/issues/{num}/comments": Role.VIEWER,
    "POST /v1/projects/{project}/issues/{num}/comments": Role.EDITOR,
    "GET /v1/projects/{project}/issues/{num}/comments/{comment}": Role.VIEWER,
    "PATCH /v1/projects/{project}/issues/{num}/comments/{comment}": Role.EDITOR,
    "DELETE /v1/projects/{project}/issues/{num}/comments/{comment}": Role.EDITOR,
    "GET /v1/projects/{project}/changes": Role.VIEWER,
    "GET /v1/projects/{project}/issues/{num}/history": Role.VIEWER,
    "GET /v1/projects/{project}/activity": Role.VIEWER,
    "POST /v1/projects/{project}/tickets": Role.VIEWER,
    "GET /v1/projects/{project}/views": Role.VIEWER,
    "POST /v1/projects/{project}/views": Role.VIEWER,
    "GET /v1/projects/{project}/views/{view}": Role.VIEWER,
    "PATCH /v1/projects/{project}/views/{view}": Role.VIEWER,
    "DELETE /v1/projects/{project}/views/{view}": Role.VIEWER,
    "POST /v1/projects/{project}/views/{view}/order": Role.EDITOR,
    "POST /v1/projects/{project}/issues/update-matching": Role.EDITOR,
    "POST /v1/projects/{project}/issues/delete-matching": Role.EDITOR,
    "POST /v1/projects/{project}/undo": Role.EDITOR,
    "POST /v1/projects/{project}/export": Role.VIEWER,
    "GET /v1/projects/{project}/jobs": Role.VIEWER,
    "GET /v1/projects/{project}/jobs/{job}": Role.VIEWER,
    "DELETE /v1/projects/{project}/jobs/{job}": Role.VIEWER,
    "GET /v1/projects/{project}/jobs/{job}/refused": Role.VIEWER,
}
"""The calls of the contract, and the lowest role that may make each."""


def test_the_routes_are_those_of_the_contract_with_its_roles() -> None:
    assert {route.key: route.role for route in ROUTES} == CONTRACT


def test_no_two_routes_share_a_key_or_an_operation() -> None:
    assert len(BY_KEY) == len({route.operation for route in ROUTES}) == len(ROUTES)


def test_each_path_names_the_methods_that_it_has_and_those_that_it_refuses() -> None:
    found = {resource.path: resource for resource in resources()}
    assert {f"{method} {path}" for path, resource in found.items() for method in resource.calls} == {*BY_KEY}
    for resource in found.values():
        assert sorted([*resource.calls, *resource.refused]) == sorted(METHODS)
    grid = found["/v1/projects/{project}/grid"]
    assert (grid.allow, grid.refused) == ("GET, POST", ("PUT", "PATCH", "DELETE"))


def test_api_gateway_has_the_endpoints_a_refusal_of_all_else_and_the_few_that_it_would_get_wrong() -> None:
    """Otherwise a public path would require a token for a wrong method, and `batch` would be taken
    for an issue number.
    """
    issues = "/v1/projects/{project}/issues"
    public = ("/v1/health", "/v1/openapi.json")
    taken = (f"{issues}/batch", f"{issues}/delete-matching", f"{issues}/update-matching")
    assert [one.key for one in DECLARED] == [
        *(route.key for route in ROUTES),
        *(f"{method} {path}" for path in public for method in ("POST", "PUT", "PATCH", "DELETE")),
        *(f"{method} {path}" for path in taken for method in ("GET", "PATCH", "DELETE")),
        *(f"{method} {EVERY_PATH}" for method in METHODS),
    ]


def test_a_refusal_requires_a_token_but_on_public_paths() -> None:
    for one in DECLARED:
        if one.call is None:
            assert one.function == REFUSES
            assert one.public == (one.path in BY_PATH and BY_PATH[one.path].public)
        else:
            assert (one.call.key, one.function, one.public) == (
                one.key,
                one.call.function,
                one.call.role is None,
            )


def test_only_health_and_the_openapi_document_are_reached_without_a_token() -> None:
    public = [resource.path for resource in resources() if resource.public]
    assert public == ["/v1/health", "/v1/openapi.json"]


def test_nothing_that_writes_is_with_the_function_that_cannot_write() -> None:
    reads = {route.key for route in ROUTES if route.function == "query"}
    queries = ("/grid", "/groups", "/summary", "/formulas/check")
    notes_a_name, waits = "GET /v1/me", "GET /v1/projects/{project}/changes"
    asking = {key for key in CONTRACT if key.startswith("GET ") or key.endswith(queries)}
    assert reads == asking - {notes_a_name, waits}


def test_roles_include_the_ones_below() -> None:
    assert Role.VIEWER < Role.EDITOR < Role.ADMIN


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation)
def test_a_route_says_what_it_does_in_a_few_words(route: object) -> None:
    summary: str = route.summary  # type: ignore[attr-defined]
    assert re.fullmatch(r"[A-Z].{4,70}[^.\s]", summary)


def test_importing_the_routes_imports_no_third_party_package() -> None:
    code = "import sys, gridview.api.routes; print(*{name.partition('.')[0] for name in sys.modules})"
    imported = _printed([sys.executable, "-S", "-c", code], [CORE])
    assert imported - sys.stdlib_module_names <= {"__main__", "gridview"}


def test_the_routes_of_all_functions_need_no_environment_and_no_tool() -> None:
    """The infrastructure, the local gateway and the page's types read them without any configuration, and no function
    starts.
    """
    code = "import sys, infra.routes; print(*sys.modules)"
    imported = _printed([sys.executable, "-P", "-c", code], [CORE, ROOT])
    assert "gridview.command_api.issues" in imported
    assert {name.partition(".")[0] for name in imported} & {
        "aws_cdk",
        "boto3",
        "devtools",
        "functions",
    } == set()
    documents = {name for name in imported if name.startswith("infra.")} - {"infra.routes"}
    assert documents == set()


def _printed(command: list[str], path: list[Path]) -> set[str]:
    """The words that a process prints whose environment has only a path of modules."""
    done = subprocess.run(  # noqa: S603  (this interpreter)
        command,
        env={"PYTHONPATH": os.pathsep.join(map(str, path))},
        capture_output=True,
        text=True,
        check=True,
    )
    return {*done.stdout.split()}
