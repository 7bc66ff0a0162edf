"""A project of a real file, as the importer reads it: all its columns and rows."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from devtools.importer.inference import profile
from devtools.importer.plan import make_plan
from devtools.importer.source import open_source
from devtools.paths import DATA
from devtools.proof.oracle.world import Project, Stamps
from gridview.encoding.json_codec import loads

TITANIUM = DATA / "titanium_issues.csv"


def titanium(limits: str) -> Project:
    """A tracker's 2,501 issues of 29 columns, held to these limits; FileNotFoundError where the shared data are not."""
    return replace(from_file(TITANIUM), limits=limits, orders=["v1"])


@lru_cache(maxsize=1)
def from_file(path: Path) -> Project:
    """The project that an import of a file makes, with the types that it infers."""
    source = open_source(path)
    rows, profiles = profile(source.rows())
    plan = make_plan(rows, profiles, types={})
    attributes = [one.definition() for one in plan.attributes]
    issues = {num: loads(plan.operation(row))["create"] for num, row in enumerate(source.rows(), start=1)}
    return Project(
        list(plan.states) or ["open", "closed"], attributes, issues, {num: _stamps(num) for num in issues}
    )


def _stamps(num: int) -> Stamps:
    times = f"2024-01-01T00:00:00.{num:06d}Z", f"2024-01-02T00:00:{num % 60:02d}Z"
    return Stamps(*times, f"user-{num % 7}", f"user-{num % 5}")
