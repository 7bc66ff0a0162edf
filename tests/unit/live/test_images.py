"""The issue before and after its changes, from the changes, a document of any later version, and
the versions between.
"""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from devtools.proof.faults.adversary import record
from gridview.dynamodb.expressions import Item
from gridview.encoding import keys
from gridview.journal.history import recorded_change
from gridview.live.images import Course, Passage
from gridview.schema.documents import CHANGED, values_of
from gridview.schema.history import Change

KEYS = ("name", "state", "a1", "a2")
WANTED = frozenset((*KEYS, "created", "updated", "created_by", "updated_by"))
USERS = ("ann", "bob", "cat")
GONE = -1

STEPS = st.lists(
    st.one_of(
        st.dictionaries(
            st.sampled_from(KEYS), st.one_of(st.none(), st.integers(1, 3)), min_size=1, max_size=3
        ),
        st.just("trash"),
    ),
    min_size=1,
    max_size=9,
)
"""Edits of fields; `trash` takes an issue to the trash, or back."""


class Life:
    """An issue's documents, and the changes of each version."""

    def __init__(self, steps: list[Any]) -> None:
        self.documents: list[Item] = []
        self.changes: list[Change] = []
        self._put(
            {
                "num": 7,
                "name": "n",
                "state": "o1",
                "fields": {"a1": 1},
                "created": at(1),
                "created_by": user_of(1),
            }
        )
        for step in steps:
            now = {name: value for name, value in self.documents[-1].items() if name not in ("deleted_at",)}
            trashed = "deleted_by" in now
            if step == "trash" and not trashed:
                version = len(self.documents) + 1
                now |= {"deleted_by": user_of(version), "deleted_at": at(version)}
            elif step == "trash" or trashed:
                now = {name: value for name, value in now.items() if not name.startswith("deleted")}
            else:
                values = {**values_of(now), **step}
                fields = {key: values[key] for key in ("a1", "a2") if values.get(key) is not None}
                new = {
                    **now,
                    "fields": fields,
                    "name": values["name"] or "n",
                    "state": values["state"] or "o1",
                }
                if values_of(new) == values_of(now):
                    continue
                version = now["version"] + 1
                touched = [key for key in KEYS if values_of(new).get(key) != values_of(now).get(key)]
                now = {**new, CHANGED: {**now.get(CHANGED, {}), **dict.fromkeys(touched, version)}}
            self._put(now)

    def _put(self, document: Item) -> None:
        version = len(self.documents) + 1
        before = self.documents[-1] if self.documents else None
        made = {
            **document,
            keys.PK: keys.issue("acme", "bridge", 7),
            keys.SK: keys.project("acme", "bridge"),
            "version": version,
            "updated": at(version),
            "updated_by": user_of(version),
        }
        found = recorded_change(record(version, before, made))
        assert found is not None
        self.documents.append(made)
        self.changes.append(found.change)

    def passage(self, version: int) -> Passage:
        """The images before and after a version, according to the documents."""
        before = image(self.documents[version - 2]) if version > 1 else None
        return Passage(before, image(self.documents[version - 1]))


def user_of(version: int) -> str:
    """The user who makes a version."""
    return USERS[version * version % 5 % len(USERS)]


def at(version: int) -> str:
    return f"2026-11-21T08:00:00.{version:06d}Z"


def image(document: Item) -> dict[str, Any] | None:
    """An issue as readers see it; one in the trash is None."""
    if "deleted_by" in document:
        return None
    builtins = ("name", "state", "created", "updated", "created_by", "updated_by")
    return {name: document[name] for name in ("num", *builtins, "fields")}


@given(STEPS, st.data())
def test_a_course_has_the_values_of_the_documents(steps: list[Any], data: st.DataObject) -> None:
    life = Life(steps)
    last = len(life.documents)
    first = data.draw(st.integers(1, last))
    end = data.draw(st.integers(first, last))
    current = data.draw(st.one_of(st.integers(end, last), st.just(GONE)))
    course = Course.of(life.changes[first - 1 : end], WANTED)
    assert course.version == life.changes[end - 1].version
    if current != GONE:
        course = course.with_document(life.documents[current - 1])
    later = life.changes[end:] if current == GONE else life.changes[end:current]
    for change in later:
        course = course.with_later([change])
    if course.lacks(WANTED):
        # Unknowable: the document is gone, and no change has it.
        assert current == GONE
        return
    found = course.passages(WANTED)
    assert found == [life.passage(version) for version in range(first, end + 1)]


@given(STEPS, st.data())
def test_a_document_gives_the_fields_that_no_later_version_has_changed(
    steps: list[Any], data: st.DataObject
) -> None:
    """Without the later changes, no field that it returns is wrong."""
    life = Life(steps)
    end = data.draw(st.integers(1, len(life.documents)))
    course = Course.of(life.changes[end - 1 : end], WANTED).with_document(life.documents[-1])
    truth = image(life.documents[end - 1])
    if truth is not None:
        had = values_of(truth)
        assert {key: course.values[key] for key in KEYS if key not in course.missing} == {
            key: had.get(key) for key in KEYS if key not in course.missing
        }
    touched_later = {key for change in life.changes[end:] if change.kind == "update" for key in change.fields}
    assert course.missing <= touched_later


def test_a_later_change_gives_the_value_that_was_there_before_it() -> None:
    life = Life([{"a1": 2}, {"a2": 3}, {"a1": 3}])
    course = Course.of(life.changes[2:3], WANTED).with_later(life.changes[3:])
    assert {key: course.values[key] for key in ("a1", "a2")} == {"a1": 2, "a2": 3}
