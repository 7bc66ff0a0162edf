"""An issue as of one version, and the strings to derive from it. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from gridview.derive.families import derived_strings
from gridview.derive.ledger import ImageVersion
from gridview.derive.sort_entries import UnknownSpec
from gridview.dynamodb.expressions import Item
from gridview.encoding import keys
from gridview.encoding.keys import IssueKey
from gridview.schema.catalog import Catalog
from gridview.schema.trash import is_trashed

NOT_AN_ISSUE = (KeyError, TypeError, ValueError)
"""The errors of decoding an item that has an issue's key but is not an issue."""


@dataclass(frozen=True, slots=True)
class Image:
    """The content of an issue, or its content when it was removed, as of one version. A deleted issue is removed."""

    key: str
    issue: IssueKey
    order: ImageVersion
    document: Item

    @property
    def project(self) -> tuple[str, str]:
        """Tenant and project."""
        return self.issue.tenant, self.issue.project

    @classmethod
    def of(cls, document: Item) -> Self:
        """Decode a stored document. Underivable if it is not an issue, even with an issue's key."""
        try:
            key = document[keys.PK]
            return cls(
                key,
                keys.parse_issue(key),
                ImageVersion(int(document["version"]), removed=is_trashed(document)),
                document,
            )
        except NOT_AN_ISSUE as error:
            raise Underivable(f"{type(error).__name__}: {error}") from error


class Poison(NamedTuple):
    """An issue from which nothing can be derived, however often one tries. `error` contains no value of the issue."""

    key: str
    version: int
    error: str

    @classmethod
    def of(cls, image: Image, error: Exception) -> Self:
        """Return the poison issue of a failed attempt."""
        return cls(image.key, image.order.version, str(error))


class Underivable(Exception):
    """Nothing can be derived from an image, or the item is not an issue. Derivation is pure, so every attempt
    fails alike.
    """


def target_of(catalog: Catalog | None, image: Image) -> dict[str, str]:
    """Return an image's derived strings, by family. Underivable if that fails. `catalog` is None for a
    deleted project.
    """
    if catalog is None or image.order.removed:
        return {}
    try:
        return derived_strings(catalog, image.document)
    except UnknownSpec:
        raise  # not the issue's fault: a newer version of this code can derive it
    except Exception as error:
        raise Underivable(f"{type(error).__name__}: {error}") from error


def projects_in(records: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Tenant and project of the issues in stream records, each once, in the order of the records."""
    partitions = dict.fromkeys(record["dynamodb"]["Keys"][keys.PK]["S"] for record in records)
    found = (keys.parse_issue(one) for one in partitions if keys.is_issue(one))
    yield from dict.fromkeys((issue.tenant, issue.project) for issue in found)
