"""Issues of nearly 400 KB, all of it indexed."""

import random
from collections.abc import Callable, Iterable
from itertools import accumulate, takewhile

import pytest

from gridview.derive.ledger import Ledger
from gridview.derive.room import MAX_STRINGS_BYTES
from gridview.dynamodb.expressions import Item
from gridview.encoding import derived_keys, keys
from gridview.encoding.attribute_values import item_size
from gridview.fsck.issue_diff import Collection
from tests.support.cloud import Cloud
from tests.support.http import Client
from tests.support.many_attributes import add_attributes

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
ISSUE = keys.issue("0807", "plain", 1)


@pytest.fixture
def texts(api: Client, account: Cloud, project: str) -> list[str]:
    """The ids of 396 attributes of searched text."""
    return add_attributes(api, account, project, 396, type="text", indexed=True, search=True)


def prose(seed: int) -> Callable[[], str]:
    """Texts of 1,000 characters that repeat words about as a language does."""
    drawn = random.Random(seed)  # noqa: S311  (not a secret)
    words = ["".join(drawn.choices(LETTERS[:20], k=drawn.randint(2, 9))) for _ in range(5_000)]
    weights = list(accumulate(1 / place for place in range(1, 5_001)))
    return lambda: " ".join(drawn.choices(words, cum_weights=weights, k=300))[:1_000].strip()


def noise(seed: int) -> Callable[[], str]:
    """Texts of 1,000 random characters."""
    drawn = random.Random(seed)  # noqa: S311  (not a secret)
    return lambda: "".join(drawn.choices(LETTERS + " ", k=1_000)).strip()


def values(ids: Iterable[str], text: Callable[[], str]) -> dict[str, str]:
    return {one: text() for one in ids}


def ledger(account: Cloud) -> Item:
    found = account.table.get(ISSUE, derived_keys.LEDGER, consistent=True)
    assert found is not None
    return found


def found_by(api: Client, project: str, text: str, field: str = "f395") -> list[int]:
    """The issues that a filter by the words of a text finds, sorted by its field."""
    wanted = {"field": field, "op": "has_words", "value": text[:200].rpartition(" ")[0]}
    answer = api.post(f"{project}/grid", {"filter": wanted, "sort": [{"field": field}], "columns": [field]})
    assert answer.status == 200, answer.text
    return [row["num"] for row in answer.body["rows"]]


def test_an_issue_of_400_indexed_texts_is_created_edited_whole_and_found(
    api: Client, account: Cloud, project: str, texts: list[str]
) -> None:
    first, *edits = (values(texts, prose(seed)) for seed in range(3))
    api.made(f"{project}/issues", {"name": "x", "fields": first})
    document = account.table.get(ISSUE, keys.project("0807", "plain"))
    assert document is not None
    assert item_size(document) > 390_000
    account.derive()
    assert found_by(api, project, first["f395"]) == [1]
    for before, after in zip([first, *edits], edits, strict=False):
        assert api.patch(f"{project}/issues/1", {"fields": after}).status == 200
        account.derive()
        assert found_by(api, project, after["f395"]) == [1]
        assert found_by(api, project, before["f395"]) == []
    account.fold()
    assert found_by(api, project, edits[-1]["f395"]) == [1]
    items = account.table.query_all(ISSUE, consistent=True)
    assert Collection.of(ISSUE, items).read_ledger() == Ledger.from_item(ledger(account))
    assert api.delete(f"{project}/issues/1").status == 204
    account.derive()
    account.fold()
    assert Ledger.from_item(ledger(account)).committed().applied == {}


def test_an_issue_that_the_index_has_no_room_for_is_refused(
    api: Client, account: Cloud, project: str, texts: list[str]
) -> None:
    small = api.made(f"{project}/issues", {"name": "x"})
    account.derive()
    before = account.items()
    wide = values(texts, noise(1))
    for answer in (
        api.post(f"{project}/issues", {"name": "x", "fields": wide}),
        api.patch(f"{project}/issues/1", {"fields": wide}),
    ):
        assert answer.kind == (422, "limit-exceeded")
        assert "190 KB" in answer.body["detail"]
    results = api.batch(
        "plain", {"create": {"name": "x", "fields": wide}}, {"update": {"num": 1, "fields": wide}}
    ).body["results"]
    assert [result["status"] for result in results] == [422, 422]
    assert account.items() == before
    assert api.get(f"{project}/issues/1").body == small
    few = dict(takewhile(lambda one: int(one[0][1:]) < 240, wide.items()))
    assert api.patch(f"{project}/issues/1", {"fields": few}).status == 200
    account.derive()
    assert MAX_STRINGS_BYTES > len(ledger(account)["packed"]) > 150_000
    others = values(few, noise(2))
    assert api.patch(f"{project}/issues/1", {"fields": others}).status == 200
    account.derive()
    assert found_by(api, project, others["f9"], "f9") == [1]
