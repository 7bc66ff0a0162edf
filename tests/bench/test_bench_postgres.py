"""`./dev bench --compare postgres` on projects of a few hundred issues, and the file from which it loads them."""

import io
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from devtools.bench.postgres import compare, datasets, enginefile, ours, report
from devtools.bench.postgres.report import COLD, KEPT, THEIRS, Section
from devtools.local import bulk, engine, table
from gridview.dynamodb.expressions import Item
from tests.support import needs

SIZES = (400, 600)


@pytest.fixture(scope="module")
def sections(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Section]]:
    """Two sizes, compared. The comparison itself has checked that all answers are equal."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ours, "KEPT", tmp_path_factory.mktemp("kept"))
        wanted = [*map(datasets.generated, SIZES), *map(datasets.numbers, SIZES)]
        found = compare.measure(wanted, 1, Console(file=io.StringIO()))
        assert all(map(ours.is_loaded, wanted))
        assert not ours.is_loaded(datasets.generated(500))
        yield found


@needs.postgres
def test_every_question_is_answered_by_all_sides_within_four_calls_in_sequence(
    sections: list[Section],
) -> None:
    for section, size in zip(sections, SIZES * 2, strict=True):
        assert section.issues == size
        for line in section.lines:
            assert set(line.costs) == {COLD, KEPT, *THEIRS}
            assert 1 <= line.costs[COLD].sequential_calls <= 4, line.question.name
            assert line.costs[COLD].read_units >= line.costs[KEPT].read_units
            assert all(cost.milliseconds > 0 for cost in line.costs.values())


@needs.postgres
def test_the_table_and_the_json_contain_every_figure(sections: list[Section]) -> None:
    grown = report.growth(sections[: len(SIZES)])
    output = io.StringIO()
    report.show(Console(file=output, width=200), sections, grown)
    printed = output.getvalue()
    document = json.loads(json.dumps(report.to_json(sections, grown)))
    assert [section["issues"] for section in document["sections"]] == [*SIZES, *SIZES]
    for line in (*sections[1].lines, *sections[-1].lines):
        assert line.question.name in printed
        assert f"{line.costs[THEIRS[0]].milliseconds:,.1f}" in printed
        assert f"{line.units(COLD):,.1f}" in printed
    for section in document["sections"]:
        assert all(one["costs"][COLD]["read_units"] > 0 for one in section["queries"].values())
    for line in sections[0].lines:
        assert document["growth"][line.question.name]["milliseconds"][COLD] > 0


def test_items_in_the_engines_file_are_those_that_the_engine_writes_itself(tmp_path: Path) -> None:
    dataset = datasets.generated(60)
    written: list[dict[tuple[bytes, bytes], Any]] = []
    items: list[Item] = []
    for way in ("engine", "file"):
        folder = tmp_path / way
        folder.mkdir()
        with engine.running(in_memory=False, folder=folder) as running:
            table.ensure(running.client(), ours.TABLE)
            stored = bulk.table_at(running.endpoint, ours.TABLE)
            catalog = dataset.make(stored)
            items = items or list(ours.items_of(dataset, catalog))
            if way == "engine":
                bulk.in_transactions(stored, items)
        if way == "file":
            enginefile.write(folder / "tables", ours.TABLE, items)
        written.append(_rows(folder / "tables"))
    by_engine, by_file = written
    assert len(items) < len(by_engine) == len(by_file)
    for item in items:
        key = (item["PK"].encode(), item["SK"].encode())
        assert by_file[key] == by_engine[key]


def _rows(tables: Path) -> dict[tuple[bytes, bytes], Any]:
    """The rows of the file, without the size of an item, which is known only of a whole table."""
    columns = ("hashKey", "rangeKey", "hashValue", "rangeValue", "hashRangeValue", "indexKey_0", "ObjectJSON")
    wanted = ", ".join((*columns, *(f"typeof({column})" for column in columns)))
    file = sqlite3.connect(tables / "shared-local-instance.db")
    file.text_factory = bytes
    try:
        return {
            row[:2]: (*row[2:6], json.loads(row[6]), *row[7:])
            for row in file.execute(f"SELECT {wanted} FROM {ours.TABLE}")  # noqa: S608  (the columns above)
        }
    finally:
        file.close()
