"""The derived items of an issue for loads that put documents past the stream. Pure."""

from collections.abc import Mapping
from typing import Any

from gridview.derive.families import derived_strings, has_entries
from gridview.derive.ledger import Ledger
from gridview.derive.sort_entries import sort_entry
from gridview.encoding import keys
from gridview.schema.catalog import Catalog


def derived_items(catalog: Catalog, document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The derived items of an issue that has none yet, except for its keys in blocks: its finished ledger and its sort entries.

    For bulk loads, which build the blocks of all issues at once.
    """
    partition_key = keys.issue(catalog.tenant, catalog.project, document["num"])
    target = derived_strings(catalog, document)
    ledger = Ledger(version=document["version"], epoch=catalog.epoch, revision=1, applied=target)
    entries = [
        sort_entry(partition_key, family, sort, version=ledger.version, revision=ledger.revision)
        for family, sort in target.items()
        if has_entries(family)
    ]
    return [ledger.to_item(partition_key), *entries]
