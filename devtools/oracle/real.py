"""A project of a real file, as the importer reads it, with random questions about it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from devtools.importer.inference import profile
from devtools.importer.plan import make_plan
from devtools.importer.source import open_source
from devtools.oracle.world import Project
from gridview.jsontext import loads


def from_file(path: Path, indexed: Sequence[str] = ()) -> Project:
    """The project that an import of a file makes. `indexed`: attributes whose index is worth its time; all by default."""
    source = open_source(path)
    rows, profiles = profile(source.rows())
    plan = make_plan(rows, profiles, types={})
    attributes: list[dict[str, Any]] = []
    for one in plan.attributes:
        definition = dict(one.definition())
        if indexed:
            definition["indexed"] = definition["id"] in indexed
        attributes.append(definition)
    issues = {num: loads(plan.operation(row))["create"] for num, row in enumerate(source.rows(), start=1)}
    times = {num: (f"2024-01-01T00:00:00.{num:06d}Z", f"2024-01-02T00:00:{num % 60:02d}Z") for num in issues}
    return Project(list(plan.states) or ["open", "closed"], attributes, issues, times)
