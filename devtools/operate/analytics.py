"""`./dev analytics` prints the SQL by which Athena reads DynamoDB's export of the table to S3.

The export (point-in-time, DynamoDB JSON) has every item of the table as a line. One external table reads them all. A
view of each project shows its issues as rows and its attributes as columns, made from the project's definitions.
"""

import argparse
import re
from collections.abc import Iterator
from typing import Final

from devtools.aws_failures import reported
from devtools.failure import Failure
from devtools.operate import target
from gridview.encoding import keys
from gridview.schema.catalog import Catalog
from gridview.schema.fields import Field, FieldType
from gridview.schema.ids import PROJECT, TENANT
from gridview.schema.store import Catalogs
from gridview.schema.trash import DELETED_BY

_LOCATION: Final = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:/[A-Za-z0-9._=-]+)*/?")
_TABLE: Final = re.compile(r"[a-z_][a-z0-9_]{0,99}")

ITEMS: Final = "gridview_items"
"""The default name of the external table."""

_TEXTS: Final = ("pk", "sk", "name", "state", "created", "updated", "created_by", "updated_by", DELETED_BY)
_NUMBERS: Final = ("num", "version")


_DESCRIPTION: Final = """\
Print two SQL statements for Athena: a table over DynamoDB's export to S3, and a view of one project. For the steps
before and after, see docs/export.md.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `./dev analytics`."""
    parser.description = _DESCRIPTION
    target.register(parser)
    parser.add_argument("--tenant", required=True, help="the tenant of the project")
    parser.add_argument("--project", required=True, help="the id of the project")
    parser.add_argument(
        "--location",
        required=True,
        metavar="S3URL",
        help="the folder `data` of the export: s3://BUCKET/PREFIX/AWSDynamoDB/EXPORT-ID/data/",
    )
    parser.add_argument("--table", default=ITEMS, help=f"name of the table in Athena (default: {ITEMS})")


@reported()
def run(args: argparse.Namespace) -> int:
    """Print the statements."""
    if not TENANT.fullmatch(args.tenant) or not PROJECT.fullmatch(args.project):
        raise Failure("This is not the id of a tenant and a project.")
    catalog = Catalogs().get(target.open(args).table, args.tenant, args.project)
    print(table_sql(args.location, args.table))
    print(view_sql(catalog, args.table))
    return 0


def table_sql(location: str, table: str = ITEMS) -> str:
    """The statement that makes a table of all items of an export. Failure if the location or the name is invalid."""
    if not _LOCATION.fullmatch(location):
        raise Failure(
            f"{location!r} is not a folder of S3. Name one such as s3://BUCKET/PREFIX/AWSDynamoDB/EXPORT-ID/data/"
        )
    members = [
        *(f"{name}:struct<s:string>" for name in _TEXTS),
        *(f"{name}:struct<n:string>" for name in _NUMBERS),
        "fields:struct<m:map<string,struct<s:string,n:string,bool:boolean,l:array<struct<s:string>>>>>",
    ]
    return (
        f"CREATE EXTERNAL TABLE IF NOT EXISTS {_named(table)} (\n  item struct<\n    "
        + ",\n    ".join(members)
        + "\n  >\n)\nROW FORMAT SERDE 'org.openx.data.jsonserde.JsonSerDe'\n"
        + f"LOCATION '{location.rstrip('/')}/';\n"
    )


def view_sql(catalog: Catalog, table: str = ITEMS) -> str:
    """The statement that makes a view of a project's issues, `issues_<tenant>_<project>`: deleted ones are left out.

    Columns are called by the fields' ids, as Athena takes no other characters; a comment has the name. Numbers are
    doubles.
    """
    project = catalog.tenant, catalog.project
    columns = ['  CAST(item.num.n AS integer) AS "num"', '  CAST(item.version.n AS integer) AS "version"']
    columns += [f'  {_value(field)} AS "{field.id}"{_comment(field)}' for field in _fields(catalog)]
    lines = [one if at == len(columns) - 1 else _comma(one) for at, one in enumerate(columns)]
    return (
        f"CREATE OR REPLACE VIEW issues_{catalog.tenant}_{catalog.project} AS\nSELECT\n"
        + "\n".join(lines)
        + f"\nFROM {_named(table)}\n"
        + f"WHERE starts_with(item.pk.s, {_text(keys.ISSUE_PREFIX + '.'.join(project) + '.')})\n"
        + f"  AND item.sk.s = {_text(keys.project(*project))}\n"
        + f"  AND item.{DELETED_BY} IS NULL;\n"
    )


def _fields(catalog: Catalog) -> Iterator[Field]:
    yield from catalog.builtins
    yield from catalog.attributes


def _value(field: Field) -> str:
    """The expression that gives a field's value."""
    stored = f"item.{field.key}" if field.builtin else f"element_at(item.fields.m, {_text(field.key)})"
    match field.type:
        case FieldType.NUMBER:
            return f"CAST({stored}.n AS double)"
        case FieldType.BOOL:
            return f"{stored}.bool"
        case FieldType.DATE:
            return f"CAST({stored}.s AS date)"
        case FieldType.DATETIME:
            return f"from_iso8601_timestamp({stored}.s)"
        case FieldType.ENUM:
            return _option(field, f"{stored}.s")
        case FieldType.MULTI_ENUM:
            return f"transform({stored}.l, one -> {_option(field, 'one.s')})"
    return f"{stored}.s"


def _option(field: Field, stored: str) -> str:
    """The value of an option, by its internal id; retired ones may still be held."""
    cases = " ".join(f"WHEN {_text(one.id)} THEN {_text(one.value)}" for one in field.options)
    return f"CASE {stored} {cases} END" if cases else "CAST(NULL AS varchar)"


def _comment(field: Field) -> str:
    """The name of an attribute, on one line whatever is in it."""
    return "" if field.builtin else "  -- " + "".join(one if one.isprintable() else " " for one in field.name)


def _comma(line: str) -> str:
    """A line of the list with its comma, which comes before the comment."""
    before, mark, comment = line.partition('"  -- ')
    return f'{before}",{mark[1:]}{comment}' if mark else f"{line},"


def _text(text: str) -> str:
    quoted = text.replace("'", "''")
    return f"'{quoted}'"


def _named(table: str) -> str:
    if not _TABLE.fullmatch(table):
        raise Failure(f"{table!r} cannot name a table. Use lower-case letters, digits and underscores.")
    return table
