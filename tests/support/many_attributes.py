"""Projects of many attributes."""

from typing import Any

from gridview.encoding import keys
from tests.support.cloud import Cloud
from tests.support.http import Client


def add_attributes(
    api: Client, account: Cloud, project: str, count: int, prefix: str = "f", **like: Any
) -> list[str]:
    """Attributes f0, f1, ... like those of the API, put into the table directly: 400 of them take a while otherwise."""
    api.made(f"{project}/attributes", {"id": f"{prefix}0", "name": "F", **like})
    partition = keys.project("0807", project.rpartition("/")[2])
    items = {item["SK"]["S"]: item for item in account.items() if item["PK"]["S"] == partition}
    (first,) = (item for sort_key, item in items.items() if sort_key.endswith(f".{prefix}0"))
    copies = [
        {
            **first,
            "SK": {"S": first["SK"]["S"].removesuffix("0") + f"{place}"},
            "id": {"S": f"{prefix}{place}"},
            "key": {"S": f"a{place + 1}"},
        }
        for place in range(count)
    ]
    catalog = items[keys.CATALOG]
    catalog["order"] = {"L": [copy["key"] for copy in copies]}
    catalog["next_key"] = {"N": str(count + 1)}
    catalog["epoch"] = {"N": str(count + 1)}
    account.put([*copies, catalog])
    return [copy["id"]["S"] for copy in copies]
