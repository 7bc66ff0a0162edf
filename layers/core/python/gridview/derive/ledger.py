"""The ledger of an issue: a record of everything derived from it, and the plan of a change.

Lambda delivers at least once, batches are retried with other boundaries, and an invocation that timed out may
still have a write in flight. So no change is expressed as a delta. A ledger records the applied changes, and
an *intent*: every family that a change touches, under a revision that was never used before. It names the
number of the journal item that commits the change. Once that item is in the journal, the intent counts as
applied, and the ledger is not written again.

If the item is missing, the next writer of the issue first puts an empty one there. The dead
invocation then cannot commit any more. An intent whose item is empty is unfinished: the new intent names the same
families again, changed or not. Sort entries carry the revision, and a write with an older one fails its
condition.

The journal of a project is also its feed of changes, and names each version of an issue once. So a ledger
records up to which version the journal has reported the issue (`Report`).

GSI1 shows blocks later than the table has them. So for some seconds a ledger also records the strings that
the issue has *left*. In the blocks there, listed sizes may still count the issue.

The strings of a wide issue are stored compressed (`packing`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

from gridview.derive.packing import PACKED, stored, strings_in
from gridview.encoding import derived_keys, keys

SHOWN_SECONDS = 30
"""Seconds after which GSI1, and every container that keeps directories, shows a write. If GSI1 is late,
readers wait longer (`view.index_clock`). The journal then lists for them the strings that a ledger no longer
names as left.
"""

HELD_SECONDS = 900
"""The most seconds for which readers wait for GSI1 to show a write."""

_LEFT_AT_MOST = 64
"""Strings of a family that a ledger names as left: more than one edit in each second of SHOWN_SECONDS. The journal
also lists those of the last seconds.
"""

EVERY_FAMILY = "*"
"""Represents all families of an issue that had none before."""


class ImageVersion(NamedTuple):
    """The order of an issue's images: the removal of version 4 is newer than version 4 itself."""

    version: int
    removed: bool


@dataclass(frozen=True, slots=True)
class Intent:
    """One family that a plan touches: its intended string (None: cleared), and the strings it may have had
    beside the applied one.
    """

    to: str | None
    left: tuple[str, ...] = ()

    def to_item(self) -> dict[str, Any]:
        """Encode as the map stored in the ledger."""
        stored: dict[str, Any] = {"to": self.to} if self.to is not None else {}
        return {**stored, "left": list(self.left)} if self.left else stored

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> Self:
        """Decode the map stored in the ledger."""
        return cls(item.get("to"), tuple(item.get("left", ())))


class Report(NamedTuple):
    """The report on the issue in the journal item of a ledger's number: the versions after `before` up to
    `to`.

    If they are the same, it reports nothing. None: unknown, because the issue's ledger was lost.
    """

    before: int | None
    to: int | None


@dataclass(frozen=True, slots=True)
class Ledger:
    """A record of everything derived from an issue.

    - `version` and `removed` name the image that `applied` (family -> sort string) was derived from. With
      `intent`, it is being derived from it.
    - `epoch` is the catalog's.
    - `revision`: raised by every intent.
    - `left`: the families changed shortly before `at` (seconds since 1970), each with the strings that the
      issue had there, or EVERY_FAMILY.
    - `number`: the number of the journal item that commits the intent. `report`: the report of that item on
      the issue. A bulk load, and a removal without definitions, write neither (0 and None).

    An issue from which nothing was derived has `Ledger()`.
    """

    version: int = 0
    removed: bool = False
    epoch: int = 0
    revision: int = 0
    applied: Mapping[str, str] = field(default_factory=dict)
    intent: Mapping[str, Intent] | None = None
    left: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    at: int = 0
    number: int = 0
    report: Report | None = None

    @property
    def reported(self) -> int | None:
        """Return the version up to which the journal has reported the issue; None if unknown. Bulk loaded
        versions need no report.
        """
        if self.report is None:
            return self.version if self.intent is None else None
        return self.report.to if self.intent is None else self.report.before

    def left_by(self, now: int) -> Mapping[str, tuple[str, ...]]:
        """Return the strings that it left and that GSI1 may still show to readers."""
        return self.left if now - self.at <= SHOWN_SECONDS else {}

    @property
    def order(self) -> ImageVersion:
        """The newest image that this ledger knows."""
        return ImageVersion(self.version, self.removed)

    @property
    def present(self) -> dict[str, tuple[str, ...]]:
        """Return, by family, the strings that its entry may hold now: the applied one, and strings of an
        unfinished plan.
        """
        found: dict[str, tuple[str, ...]] = {family: (sort,) for family, sort in self.applied.items()}
        for family, intent in (self.intent or {}).items():
            candidates = (
                *found.get(family, ()),
                *intent.left,
                *((intent.to,) if intent.to is not None else ()),
            )
            found[family] = tuple(dict.fromkeys(candidates))
        return found

    def target(self) -> dict[str, str]:
        """Return the strings that an unfinished plan was to reach; the applied ones if there is no such plan."""
        reached = dict(self.applied)
        for family, intent in (self.intent or {}).items():
            if intent.to is None:
                reached.pop(family, None)
            else:
                reached[family] = intent.to
        return reached

    def committed(self) -> Self:
        """Return this ledger once the journal item of its number is there: the intent is applied."""
        return replace(self, applied=self.target(), intent=None)

    def to_item(self, partition_key: str, *, expires: int | None = None) -> dict[str, Any]:
        """Encode as the stored item. `expires` (seconds since 1970) makes it a tombstone that the table deletes."""
        item: dict[str, Any] = {
            keys.PK: partition_key,
            keys.SK: derived_keys.LEDGER,
            "version": self.version,
            "epoch": self.epoch,
            "revision": self.revision,
            **stored(self._strings()),
        }
        if self.removed:
            item["removed"] = True
        if self.left:
            item["at"] = self.at
        if self.number:
            item[NUMBER] = self.number
        if self.report is not None:
            item["report"] = list(self.report)
        if expires is not None:
            item[keys.TTL_ATTRIBUTE] = expires
        return item

    def _strings(self) -> dict[str, Any]:
        """Return the attributes of the stored item with all strings."""
        strings: dict[str, Any] = {"applied": dict(self.applied)}
        if self.intent is not None:
            strings["intent"] = {family: intent.to_item() for family, intent in self.intent.items()}
        if self.left:
            strings["left"] = {family: list(left) for family, left in self.left.items()}
        return strings

    @classmethod
    def from_item(cls, item: Mapping[str, Any] | None) -> Self:
        """Decode the stored item; the empty ledger if there is none. One that names a number keeps its
        intent: see `committed`. ValueError if its strings cannot be unpacked.
        """
        if item is None:
            return cls()
        strings = strings_in(item)
        intent = strings.get("intent")
        return cls(
            version=item["version"],
            removed=item.get("removed", False),
            epoch=item["epoch"],
            revision=item["revision"],
            applied=strings["applied"],
            intent=None if intent is None else {name: Intent.from_item(one) for name, one in intent.items()},
            left={family: tuple(left) for family, left in strings.get("left", {}).items()},
            at=item.get("at", 0),
            number=item.get(NUMBER, 0),
            report=Report(*item["report"]) if "report" in item else None,
        )


NUMBER = "journal"
"""The attribute of a stored ledger that holds the journal's number."""


def paths_of(family: str) -> tuple[tuple[str, ...], ...]:
    """Return the paths of a stored ledger that `finished_in` looks at, without its number's."""
    return ("applied", family), ("intent", family), (PACKED,)


def finished_in(item: Mapping[str, Any], family: str, *, committed: bool) -> str | None:
    """Return the string that an issue has in a family by its stored ledger; None if it has none.

    `committed`: whether the item of the number that it names is there, so that the intent counts.
    """
    try:
        strings = strings_in(item)
    except ValueError:
        return None  # `fsck` reports it
    intended = strings.get("intent", {}).get(family)
    if committed and intended is not None:
        return Intent.from_item(intended).to
    applied: str | None = strings.get("applied", {}).get(family)
    return applied


@dataclass(frozen=True, slots=True)
class Plan:
    """The ledger that intends a change (`intent`), the strings by family that it puts, and the families that it clears.

    `done` is the ledger once that is applied. The journal says when it is; it is written only where nothing
    else differs, and in projects without definitions.
    """

    intent: Ledger
    put: Mapping[str, str]
    clear: tuple[str, ...]
    done: Ledger


def plan(
    ledger: Ledger,
    image: ImageVersion,
    target: Mapping[str, str],
    epoch: int,
    *,
    news: bool = False,
    now: int = 0,
) -> Plan | None:
    """Return the change that brings derived data to `target` (family -> derived string), made from `image`,
    at `now`.

    None if there is nothing to do. The ledger is finished, and one of these is true:

    - it knows this image under this epoch, or a newer image;
    - nothing that is indexed differs from the version just before.

    With `news` there is work, unless a newer image is known: the journal has not reported this image yet.
    After a longer step, or under a newer epoch, the ledger is written in any case. An invocation believed
    dead may be about to derive from a version in between, or by older definitions, and now finds the ledger
    changed. An image older than an unfinished ledger completes the intent of that ledger.
    """
    known = not news and epoch <= ledger.epoch
    if ledger.intent is None and (image < ledger.order or (image == ledger.order and known)):
        return None
    if ledger.intent is not None and image < ledger.order:
        image, target, epoch = ledger.order, ledger.target(), ledger.epoch
    present = ledger.present
    unfinished = ledger.intent or {}
    touched = [
        family
        for family in {**present, **target}
        if family in unfinished or present.get(family) != ((target[family],) if family in target else None)
    ]
    one_step = not ledger.removed and image == ImageVersion(ledger.version + 1, removed=False)
    if not touched and one_step and known:
        return None
    before = ledger.left_by(now)
    left = left_after(ledger, present, touched, now)
    if touched and not ledger.revision:
        left = {**before, EVERY_FAMILY: ()}
    done = Ledger(
        image.version,
        image.removed,
        epoch,
        ledger.revision + 1,
        dict(target),
        left=left,
        at=now,
    )
    intents = {
        family: Intent(
            target.get(family),
            tuple(s for s in present.get(family, ()) if s != ledger.applied.get(family)),
        )
        for family in touched
    }
    return Plan(
        intent=replace(done, applied=ledger.applied, intent=intents, left=before),
        put={family: target[family] for family in touched if family in target},
        clear=tuple(family for family in touched if family not in target),
        done=done,
    )


def left_after(
    ledger: Ledger, present: Mapping[str, tuple[str, ...]], touched: Iterable[str], now: int
) -> dict[str, tuple[str, ...]]:
    """Return the strings that an issue has left once a plan that touches these families is carried out, if
    readers may still see them.
    """
    before = ledger.left_by(now)
    left = {family: _newest(before.get(family, ()), present.get(family, ())) for family in touched}
    return {**before, **left}


def _newest(before: Iterable[str], left: Iterable[str]) -> tuple[str, ...]:
    """Return the strings of a family that were left before and now, each once. If they are many, without the oldest
    ones: an issue that is edited all day would name them all.
    """
    now = tuple(left)
    return (*(one for one in before if one not in now), *now)[-_LEFT_AT_MOST:]
