"""A project of a real file, as the importer reads it, with random questions about it."""

from collections.abc import Collection
from pathlib import Path

from devtools.importer.inference import profile
from devtools.importer.plan import make_plan
from devtools.importer.source import open_source
from devtools.oracle.world import Project
from gridview.jsontext import loads


def from_file(path: Path, columns: Collection[str], limit: int) -> Project:
    """The project that an import of some columns of a file's first rows makes (each column is an index to load)."""
    source = open_source(path)
    rows, profiles = profile(source.rows(limit))
    plan = make_plan(rows, {name: one for name, one in profiles.items() if name in columns}, types={})
    attributes = [one.definition() for one in plan.attributes]
    issues = {
        num: loads(plan.operation(row))["create"] for num, row in enumerate(source.rows(limit), start=1)
    }
    times = {num: (f"2024-01-01T00:00:00.{num:06d}Z", f"2024-01-02T00:00:{num % 60:02d}Z") for num in issues}
    return Project(list(plan.states) or ["open", "closed"], attributes, issues, times)
