"""One issue with all its values."""

from gridview.api.endpoints import Endpoints
from gridview.api.http import Response, versioned
from gridview.api.routes import Gives
from gridview.commands.actor import Role
from gridview.query_api.answers import token
from gridview.query_api.container import QueryContainer, QueryRequest
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.document_store import get_issue as read_issue
from gridview.schema.epoch import EpochCheck
from gridview.view import freshness
from gridview.view.shown_versions import Answered, Shown, ShownVersion

endpoints = Endpoints[QueryContainer]("Issues", "query")


@endpoints.get(
    "/v1/projects/<project>/issues/<num>",
    Role.VIEWER,
    "An issue with all its values",
    answer="Issue",
    gives=(Gives.TOKEN_OF_SHOWN,),
)
def get_issue(request: QueryRequest) -> Response:
    """One issue."""
    own, num = request.container, int(request.path["num"])

    def found(catalog: Catalog, epoch: EpochCheck) -> Answered:
        document = epoch.beside(own.table, lambda: read_issue(own.table, catalog, num))
        versions = [ShownVersion(num, document["version"], document["updated"])]
        return Answered(documents.to_json(catalog, document), Shown.of(versions, freshness.kept(own.cache)))

    issue, shown = own.catalogs.using(own.table, request.actor.tenant, request.path["project"], found)
    return versioned(issue).with_headers(token(request, shown))
