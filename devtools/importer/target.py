"""Makes the project that a plan needs, or finds that the existing one will do."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import httpx
import orjson

from devtools.failure import Failure
from devtools.importer.client import Api, RefusedError
from devtools.importer.plan import Plan
from devtools.importer.spelling import Spellings


def created_at(api: Api, project_id: str) -> str | None:
    """The instant at which a project was made; None without a project. Earlier projects with its id have another."""
    project = api.get(_path(project_id))
    return None if project is None else str(project["created"])


def prepare(api: Api, project_id: str, name: str, plan: Plan) -> tuple[str, Plan]:
    """Create missing parts of project, states, attributes and options, and change nothing that exists.

    Returns when the project was made, and the plan with the project's ids of attributes and spellings of states and options.
    Columns that the project computes are left out of it. Safe to repeat after a kill. Failure when an attribute exists with
    another type.
    """
    try:
        return _prepare(api, project_id, name, plan)
    except RefusedError as refused:
        errors = "".join(
            f" ({error['field']} {error['message']})" for error in refused.problem.get("errors", [])[:3]
        )
        raise Failure(f"The project {project_id!r} cannot be set up: {refused}{errors}") from refused


def _prepare(api: Api, project_id: str, name: str, plan: Plan) -> tuple[str, Plan]:
    path = _path(project_id)
    project = api.get(path)
    if project is None:
        asked = {"states": plan.states} if plan.states else {}
        project = _create(api, path, {"id": project_id, "name": name, **asked})
    there = {attribute["id"]: attribute for attribute in project["attributes"]}
    plan = plan.matched({key: attribute["name"] for key, attribute in there.items()})
    plan = plan.without({key for key, attribute in there.items() if "formula" in attribute})
    _check_types(project_id, there, plan)
    spellings = {"state": _spellings(project["states"])}
    if unknown := spellings["state"].missing(plan.states):
        known = [*project["states"], *({"value": state} for state in unknown)]
        api.patch(path, orjson.dumps({"states": known}))
        spellings["state"] = _spellings(known)
    for attribute in plan.attributes:
        found = there.get(attribute.id)
        if found is None:
            api.post(f"{path}/attributes", orjson.dumps(attribute.definition()))
        elif attribute.type.has_options:
            spellings[attribute.id] = _spellings(found["options"])
            if missing := spellings[attribute.id].missing(attribute.options):
                options = [*found["options"], *({"value": option} for option in missing)]
                api.patch(f"{path}/attributes/{attribute.id}", orjson.dumps({"options": options}))
                spellings[attribute.id] = _spellings(options)
    return str(project["created"]), replace(plan, spellings=spellings)


def _spellings(options: Iterable[Mapping[str, Any]]) -> Spellings:
    return Spellings(option["value"] for option in options)


def _path(project_id: str) -> str:
    return f"/v1/projects/{project_id}"


def _create(api: Api, path: str, body: Mapping[str, Any]) -> Any:
    try:
        return api.post("/v1/projects", orjson.dumps(body))
    except RefusedError as refused:
        if refused.status != httpx.codes.CONFLICT:
            raise
        # Another client may have made it just now.
        project = api.get(path)
        if project is None:
            raise Failure(
                f"The project id {body['id']!r} belonged to a deleted project; choose another. {refused}"
            ) from refused
        return project


def _check_types(project_id: str, there: Mapping[str, Any], plan: Plan) -> None:
    for attribute in plan.attributes:
        found = there.get(attribute.id)
        if found is not None and found["type"] != attribute.type.value:
            raise Failure(
                f"The project {project_id!r} has an attribute {attribute.id!r} of type {found['type']}, but the column "
                f"{attribute.column!r} is {attribute.type.value}: say otherwise with --types, or take another project."
            )
