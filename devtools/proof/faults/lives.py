"""The versions of each issue, as the table really held them: undo, jobs and webhooks are judged by them.

Nothing here asks the core for changes: one document is compared with the one before it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from devtools.proof.faults.world import World
from gridview.dynamodb.expressions import Item
from gridview.encoding import keys
from gridview.schema.trash import living


class Maker(NamedTuple):
    """Under which change a version was written, and by whom."""

    change: bytes | None
    user: str


class Life(NamedTuple):
    """One version of an issue.

    `values`: those present, by internal name; options in one order, since they are a set.
    """

    version: int
    maker: Maker
    is_alive: bool
    values: Mapping[str, Any]
    image: Item


NOTHING = Life(0, Maker(None, ""), False, {}, {})
"""Before its first version."""


def life_of(image: Item) -> Life:
    """The version that a document has."""
    fields = {"name": image["name"], "state": image["state"], **image["fields"]}
    values = {
        name: tuple(sorted(value)) if isinstance(value, list) else value
        for name, value in fields.items()
        if value is not None
    }
    maker = Maker(image.get("change"), image["updated_by"])
    return Life(image["version"], maker, living(image) is not None, values, image)


def lives_of(world: World, num: int) -> list[Life]:
    """The versions of an issue in order, from the first to the last that was in the table."""
    return [life_of(image) for image in world.images[keys.issue(*world.home, num)] if image is not None]


def is_gone(world: World, num: int) -> bool:
    """Whether the issue's document was taken out of the table."""
    return keys.issue(*world.home, num) in world.taken_out


def numbers_of(world: World) -> list[int]:
    """The numbers of all issues that ever were."""
    return sorted(keys.parse_issue(key).num for key in world.images)


def steps(lives: Sequence[Life]) -> Iterator[tuple[Life, Life]]:
    """Each version with the one before it."""
    return zip((NOTHING, *lives), lives, strict=False)


def kind_of(before: Life, after: Life) -> str:
    """The kind of a version, as events name it."""
    if before.version == 0:
        return "create"
    if before.is_alive == after.is_alive:
        return "update"
    return "restore" if after.is_alive else "delete"


def touched(before: Life, after: Life) -> set[str]:
    """The fields whose values a version changed."""
    return {
        name for name in {*before.values, *after.values} if before.values.get(name) != after.values.get(name)
    }


def made_by(lives: Sequence[Life], makers: Collection[Maker]) -> list[int]:
    """The versions that were written under one of these changes."""
    return [life.version for life in lives if life.maker in makers]
