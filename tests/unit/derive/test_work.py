"""The work for one issue: whether there is any, and what the journal reports of it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gridview.derive.images import Image, target_of
from gridview.derive.ledger import Intent, Ledger, Report
from gridview.derive.work import Subject, Work, work_on
from gridview.dynamodb.expressions import Item
from gridview.encoding import keys
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.documents import Changes
from tests.support.derived_project import catalog_of, new_table

NOW = "2024-01-01T00:00:00.000000Z"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return catalog_of(new_table())


def image(catalog: Catalog, version: int = 2, **more: Any) -> Image:
    made: Item = documents.new_document(catalog, 7, Changes({"name": "Pier"}, {}), user="ann", now=NOW)
    return Image.of(made | {"version": version} | more)


def ledger(catalog: Catalog, applied: Mapping[str, str], version: int = 2) -> Ledger:
    """The ledger of an issue whose versions the journal has reported."""
    return Ledger(version, False, catalog.epoch, 1, applied, number=5, report=Report(version - 1, version))


def work(catalog: Catalog, image: Image, before: Ledger, *, touch: bool = False) -> Work | None:
    return work_on(Subject(catalog, image, before), touch=touch, now=0)


def test_a_pass_clears_the_strings_of_a_family_that_is_gone(catalog: Catalog) -> None:
    present = image(catalog)
    target = target_of(catalog, present)
    before = replace(ledger(catalog, {**target, "a9.1": "x\x0100000007"}), epoch=catalog.epoch - 1)
    found = work(catalog, present, before)
    assert found is not None
    assert (dict(found.planned.put), found.planned.clear) == ({}, ("a9.1",))
    assert found.pending.ledger.report == Report(2, 2), "the version was reported before"
    assert work(catalog, present, replace(before, applied=target)) is None


def test_a_pass_that_completes_an_intent_reports_the_versions_of_that(catalog: Catalog) -> None:
    present = image(catalog)
    target = target_of(catalog, present)
    before = ledger(catalog, {**target, "name.1": "dock\x0100000007"})
    found = work(catalog, present, replace(before, intent={"name.1": Intent(target["name.1"])}))
    assert found is not None
    assert (found.pending.change.before, found.pending.ledger.report) == (1, Report(1, 2))


@pytest.mark.parametrize(("was_there", "before"), [(True, 3), (False, 4)])
def test_a_removal_is_reported_if_the_issue_was_there(catalog: Catalog, was_there: bool, before: int) -> None:
    """Nothing follows a version after which `before` is beyond it."""
    trashed = image(catalog, 3, deleted_by="ben", deleted_at=NOW, **{keys.TTL_ATTRIBUTE: 1})
    applied = target_of(catalog, image(catalog)) if was_there else {}
    unfinished = replace(
        ledger(catalog, applied, 3),
        removed=True,
        intent=dict.fromkeys(applied, Intent(None)),
        report=Report(3, 3),
    )
    found = work(catalog, trashed, unfinished, touch=True)
    assert found is not None
    assert (found.pending.change.removed, found.pending.change.before) == (True, before)
