"""The attributes of a project, also deleted ones that can be restored."""

from typing import Any

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response, ok, versioned
from gridview.commands import reads
from gridview.commands.actor import Role
from gridview.query_api.container import QueryContainer, QueryRequest
from gridview.schema.catalog import Catalog
from gridview.schema.epoch import EpochCheck

endpoints = Endpoints[QueryContainer]("Attributes", "query")


@endpoints.get(
    "/v1/projects/<project>/attributes/<attribute>",
    Role.VIEWER,
    "An attribute of a project",
    answer="Attribute",
)
def get_attribute(request: QueryRequest) -> Response:
    """One attribute."""
    project, attribute = request.path["project"], request.path["attribute"]
    return versioned(reads.get_attribute(request.container.table, request.actor, project, attribute))


@endpoints.post(
    "/v1/projects/<project>/formulas/check",
    Role.VIEWER,
    "The type, the fields and some values of a formula that is not saved",
    body="FormulaCheck",
    answer="CheckedFormula",
)
def check_formula(request: QueryRequest) -> Response:
    """Check a formula."""
    from gridview.commands import formula_check

    own, body = request.container, request.body()

    def checked(catalog: Catalog, _: EpochCheck) -> dict[str, Any]:
        return formula_check.check_formula(own.table, catalog, body)

    return ok(own.catalogs.using(own.table, request.actor.tenant, request.path["project"], checked))


@endpoints.get(
    "/v1/projects/<project>/deleted-attributes",
    Role.ADMIN,
    "The deleted attributes that can be restored, the last deleted first",
    answer="DeletedAttributeList",
)
def list_deleted_attributes(request: QueryRequest) -> Response:
    """Return the attributes that can be restored."""
    from gridview.commands import deleted_attributes

    table, project = request.container.table, request.path["project"]
    return ok(deleted_attributes.list_deleted_attributes(table, request.actor, project))
