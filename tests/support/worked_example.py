"""The worked example of the documentation.

Tenant 0807 has a project with four attributes and three issues; tenant 3cc8 has one with two issues and no attribute.
"""

from tests.support.http import Client

PROJECT = "35e9"
PATH = f"/v1/projects/{PROJECT}"
ATTRIBUTES = (
    {"id": "3812", "name": "Start", "type": "date"},
    {"id": "882a", "name": "End", "type": "date"},
    {"id": "3fe6", "name": "Num Items", "type": "number"},
    {"id": "47e5", "name": "Sign Off", "type": "text"},
)
ISSUES = (
    {"name": "Needs Painting", "state": "open", "fields": {"3812": "2023-05-01", "882a": "2023-06-01"}},
    {"name": "Check for rust", "state": "closed", "fields": {"3812": "2023-05-02", "882a": "2023-06-02"}},
    {"name": "Girder needs replacing", "state": "open", "fields": {"3fe6": 42, "47e5": "Approved"}},
)


def load(api: Client) -> str:
    """Create it through the API. Returns its path."""
    api.made("/v1/projects", {"id": PROJECT, "name": "Forth Rail Bridge"})
    for attribute in ATTRIBUTES:
        api.made(f"{PATH}/attributes", attribute)
    for issue in ISSUES:
        api.made(f"{PATH}/issues", issue)
    return PATH


NEWS_TENANT = "3cc8"
NEWS = "/v1/projects/7b7e"
NEWS_ISSUES = (
    {"name": "Launch new newspaper!", "state": "closed"},
    {"name": "Hire reporter for showbiz desk", "state": "open"},
)


def load_news(api: Client) -> str:
    """Create the other tenant's project through the API. Returns its path. `api`: of an admin of that tenant."""
    api.made("/v1/projects", {"id": NEWS.rpartition("/")[2], "name": "The Daily News"})
    for issue in NEWS_ISSUES:
        api.made(f"{NEWS}/issues", issue)
    return NEWS
