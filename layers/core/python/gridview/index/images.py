"""An issue as of one version, and what is to be derived from it. Pure."""

from dataclasses import dataclass
from typing import NamedTuple, Self

from gridview.dynamodb.expressions import Item
from gridview.encoding import keys
from gridview.encoding.keys import IssueKey
from gridview.index.families import derived_strings
from gridview.index.ledger import ImageVersion
from gridview.index.sort_entries import UnknownSpec
from gridview.schema.catalog import Catalog

NOT_AN_ISSUE = (KeyError, TypeError, ValueError)
"""What reading an item raises that stands at an issue's key and is none."""


@dataclass(frozen=True, slots=True)
class Image:
    """What an issue is, or was when it was removed, as of one version."""

    key: str
    issue: IssueKey
    order: ImageVersion
    document: Item
    restored: bool
    """It was put where nothing stood, and is not the first version."""

    @property
    def project(self) -> tuple[str, str]:
        """Tenant and project."""
        return self.issue.tenant, self.issue.project

    @classmethod
    def of(cls, document: Item) -> Self:
        """Of a stored document; Underivable when it is no issue, whatever its key says."""
        try:
            key = document[keys.PK]
            return cls(
                key,
                keys.parse_issue(key),
                ImageVersion(int(document["version"]), removed=False),
                document,
                False,
            )
        except NOT_AN_ISSUE as error:
            raise Underivable(f"{type(error).__name__}: {error}") from error


class Poison(NamedTuple):
    """An issue from which nothing can be derived, however often one tries. `error` names no value of the issue."""

    key: str
    version: int
    error: str

    @classmethod
    def of(cls, image: Image, error: Exception) -> Self:
        """When this came of an attempt."""
        return cls(image.key, image.order.version, str(error))


class Underivable(Exception):
    """Nothing can be derived from an image, or what there is is none. Derivation is pure: what fails in it fails every time."""


def target_of(catalog: Catalog | None, image: Image) -> dict[str, str]:
    """The derived strings that an image asks for, by family; Underivable. `catalog` is None where the project is deleted."""
    if catalog is None or image.order.removed:
        return {}
    try:
        return derived_strings(catalog, image.document)
    except UnknownSpec:
        raise  # no fault of the issue: a newer version of this code can do it
    except Exception as error:
        raise Underivable(f"{type(error).__name__}: {error}") from error
