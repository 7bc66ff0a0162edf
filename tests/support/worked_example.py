"""The worked example of the documentation: a project of tenant 0807 with four attributes and three issues."""

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
    """Create it through the API, and give its path."""
    api.made("/v1/projects", {"id": PROJECT, "name": "Forth Rail Bridge"})
    for attribute in ATTRIBUTES:
        api.made(f"{PATH}/attributes", attribute)
    for issue in ISSUES:
        api.made(f"{PATH}/issues", issue)
    return PATH
