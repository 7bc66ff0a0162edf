"""Two ways to keep issues of any attributes in PostgreSQL, and every question in the SQL of each.

- attribute-value: a row for each value of an issue; indexes by (attribute, value, issue) and by issue.
- JSONB: a row for each issue, with its fields as one document; an expression index for each indexed attribute.

Both keep the built-in fields as columns, with an index each. Numbers are numeric; dates, options and texts compare as
C does. A page by a field is taken from the issues that have a value of it, which come first. A grid asks for the
others when those have run out, and PostgreSQL is spared an outer join.
"""

# ruff: noqa: S608 - names and values are those of our own questions

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any, Final, Protocol

from devtools.bench.postgres.cluster import Cluster
from devtools.bench.postgres.datasets import Dataset
from devtools.bench.postgres.questions import ROWS, Condition, Kind, Question
from gridview.encoding.json_codec import dumps
from gridview.schema.catalog import Catalog
from gridview.schema.documents import to_json
from gridview.schema.fields import FieldType

_BUILTINS: Final = ("name", "state", "created", "updated")

_ISSUE: Final = "num integer, name text, state text, created timestamptz, updated timestamptz"
_ISSUE_INDEXES: Final = (
    "ALTER TABLE issue ADD PRIMARY KEY (num)",
    *(f"CREATE INDEX ON issue ({column}, num)" for column in ("name", "state", "created")),
)


class Design(Protocol):
    """Tables for the issues of one project."""

    name: str

    def tables(self) -> Mapping[str, str]:
        """Table -> its columns."""

    def rows(self, issue: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """Table and row, for all that is kept of an issue in the API's form."""

    def indexes(self) -> Iterator[str]:
        """Statements that make them, after the rows are there."""

    def sql(self, question: Question) -> str:
        """A question. Rows of pages begin with the issue's number; those of groups with the value and the count."""


class AttributeValue:
    """The attribute-value design."""

    name = "attribute-value"

    def __init__(self, catalog: Catalog) -> None:
        self._attributes = {field.id: place for place, field in enumerate(catalog.attributes, 1)}
        self._numbers = _numbers(catalog)

    def tables(self) -> Mapping[str, str]:
        """The issues, and a row for each value of one."""
        return {"issue": _ISSUE, "value": "issue integer, attribute smallint, value text, number numeric"}

    def rows(self, issue: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """A list of options is a row for each."""
        yield "issue", _columns(issue)
        for name, value in issue["fields"].items():
            for one in value if isinstance(value, list) else (value,):
                pair = (None, one) if name in self._numbers else (one, None)
                yield "value", (issue["num"], self._attributes[name], *pair)

    def indexes(self) -> Iterator[str]:
        """By value for every attribute, those included that are not indexed on our side."""
        yield from _ISSUE_INDEXES
        yield "CREATE INDEX ON value (attribute, value, issue) WHERE value IS NOT NULL"
        yield "CREATE INDEX ON value (attribute, number, issue) WHERE number IS NOT NULL"
        yield "CREATE INDEX ON value (issue, attribute)"

    def sql(self, question: Question) -> str:
        """Conditions and orders are joins of the values, by issue."""
        only, field = question.only, question.field
        where = [] if only is None else [self._condition(only)]
        if question.kind is Kind.COUNT:
            return f"SELECT count(*) FROM {_source(self._is_column(only))} f WHERE {' AND '.join(where)}"
        if question.kind is Kind.GROUPS:
            return self._groups(field or "")
        if question.kind in (Kind.SUMS, Kind.GROUPED_SUMS):
            return self._sums(question)
        limits = f"LIMIT {ROWS} OFFSET {question.offset}"
        if question.without:
            absent = (
                f"NOT EXISTS (SELECT FROM value v WHERE v.issue = i.num AND {self._has(field or '', 'v')})"
            )
            return self._page(f"SELECT num FROM issue i WHERE {absent} ORDER BY num {limits}")
        if field is None:
            column = _number_column(self._is_column(only))
            source = _source(self._is_column(only))
            return self._page(
                f"SELECT f.{column} AS num FROM {source} f WHERE {' AND '.join(where)} ORDER BY f.{column} {limits}"
            )
        tables = "value s"
        if only is not None:
            tables += f" JOIN {_source(self._is_column(only))} f ON f.{_number_column(self._is_column(only))} = s.issue"
        where.insert(0, self._has(field, "s"))
        order = f"s.{self._column(field)}, s.issue"
        return self._page(
            f"SELECT s.issue AS num FROM {tables} WHERE {' AND '.join(where)} ORDER BY {order} {limits}"
        )

    def _page(self, numbers: str) -> str:
        """The issues of a page with all their values."""
        values = "SELECT jsonb_object_agg(v.attribute, coalesce(v.value, v.number::text)) FROM value v WHERE v.issue = i.num"
        page = f"SELECT num, row_number() OVER () AS place FROM ({numbers}) ordered"
        return (
            f"WITH page AS MATERIALIZED ({page}) "
            f"SELECT i.*, ({values}) FROM page JOIN issue i USING (num) ORDER BY place"
        )

    def _groups(self, field: str) -> str:
        if field in _BUILTINS:
            return f"SELECT {field}, count(*) FROM issue GROUP BY 1 ORDER BY 1"
        has, column = self._has(field, "v"), self._column(field)
        groups = f"SELECT {column}::text, count(*) FROM value v WHERE {has} GROUP BY 1"
        without = f"SELECT NULL, (SELECT count(*) FROM issue) - (SELECT count(*) FROM value v WHERE {has})"
        return f"{groups} UNION ALL {without} ORDER BY 1"

    def _sums(self, question: Question) -> str:
        only, field = question.only, question.field
        summed = ", ".join(str(self._attributes[one]) for one in question.sums)
        tables, where = "value s", [f"s.attribute IN ({summed})", "s.number IS NOT NULL"]
        if only is not None:
            column = _number_column(self._is_column(only))
            tables += f" JOIN {_source(self._is_column(only))} f ON f.{column} = s.issue"
            where.append(self._condition(only))
        sums = f"count(*), sum(s.number) FROM {tables}"
        if field is None:
            return f"SELECT {sums} WHERE {' AND '.join(where)} GROUP BY s.attribute ORDER BY s.attribute"
        where.append(self._has(field, "g"))
        value, grouped = f"g.{self._column(field)}", "JOIN value g ON g.issue = s.issue"
        return f"SELECT {value}, {sums} {grouped} WHERE {' AND '.join(where)} GROUP BY 1"

    def _condition(self, only: Condition) -> str:
        if only.field in _BUILTINS:
            return f"f.{only.field} {_range(only)}"
        return f"{self._has(only.field, 'f')} AND f.{self._column(only.field)} {_range(only)}"

    def _is_column(self, only: Condition | None) -> bool:
        return only is None or only.field in _BUILTINS

    def _has(self, field: str, alias: str) -> str:
        return f"{alias}.attribute = {self._attributes[field]} AND {alias}.{self._column(field)} IS NOT NULL"

    def _column(self, field: str) -> str:
        return "number" if field in self._numbers else "value"


class Jsonb:
    """The design with one document for each issue."""

    name = "JSONB"

    def __init__(self, catalog: Catalog) -> None:
        self._numbers = _numbers(catalog)
        self._indexed = [field.id for field in catalog.attributes if field.indexed]

    def tables(self) -> Mapping[str, str]:
        """Only the issues."""
        return {"issue": f"{_ISSUE}, fields jsonb"}

    def rows(self, issue: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """One."""
        yield "issue", (*_columns(issue), dumps(issue["fields"]).decode())

    def indexes(self) -> Iterator[str]:
        """By value for the attributes that are indexed on our side."""
        yield from _ISSUE_INDEXES
        for field in self._indexed:
            yield f"CREATE INDEX ON issue (({self._value(field)}), num)"

    def sql(self, question: Question) -> str:
        """Conditions and orders are of expressions that have an index."""
        only, field = question.only, question.field
        where = [] if only is None else [f"{self._value(only.field)} {_range(only)}"]
        if question.kind is Kind.COUNT:
            return f"SELECT count(*) FROM issue WHERE {' AND '.join(where)}"
        if question.kind is Kind.GROUPS:
            return f"SELECT {self._value(field or '')}, count(*) FROM issue GROUP BY 1 ORDER BY 1"
        if question.kind in (Kind.SUMS, Kind.GROUPED_SUMS):
            sums = ", ".join(f"count({value}), sum({value})" for value in map(self._value, question.sums))
            source = f"issue WHERE {where[0]}" if where else "issue"
            if field is None:
                return f"SELECT {sums} FROM {source}"
            return f"SELECT {self._value(field)}, {sums} FROM {source} GROUP BY 1"
        order = "num"
        if field is not None:
            where.append(f"{self._value(field)} IS {'' if question.without else 'NOT '}NULL")
            order = "num" if question.without else f"{self._value(field)}, num"
        limits = f"LIMIT {ROWS} OFFSET {question.offset}"
        return f"SELECT * FROM issue WHERE {' AND '.join(where)} ORDER BY {order} {limits}"

    def _value(self, field: str) -> str:
        if field in _BUILTINS:
            return field
        return f"((fields->>'{field}')::numeric)" if field in self._numbers else f"(fields->>'{field}')"


def load(cluster: Cluster, dataset: Dataset, catalog: Catalog, designs: Mapping[str, Design]) -> None:
    """Fill an empty database for each design (database -> design) in one pass over the issues; index, vacuum, analyze."""
    with ExitStack() as stack:
        streams = {}
        for database, design in designs.items():
            cluster.create(database)
            for table, columns in design.tables().items():
                cluster.run(database, f"CREATE TABLE {table} ({columns})")
                streams[database, table] = stack.enter_context(cluster.copying(database, table))
        for document in dataset.documents(catalog):
            issue = to_json(catalog, document)
            for database, design in designs.items():
                for table, row in design.rows(issue):
                    streams[database, table].write(copied(row))
    for database, design in designs.items():
        for statement in design.indexes():
            cluster.run(database, statement)
        cluster.run(database, "VACUUM ANALYZE")


def copied(row: tuple[Any, ...]) -> bytes:
    """A row in the text form of COPY."""
    return ("\t".join(map(_copied, row)) + "\n").encode()


_ESCAPED: Final = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def _copied(value: Any) -> str:
    if value is None:
        return "\\N"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).translate(_ESCAPED)


def _columns(issue: Mapping[str, Any]) -> tuple[Any, ...]:
    return (issue["num"], *(issue[name] for name in _BUILTINS))


def _numbers(catalog: Catalog) -> frozenset[str]:
    return frozenset(field.id for field in catalog.attributes if field.type is FieldType.NUMBER)


def _source(is_column: bool) -> str:
    return "issue" if is_column else "value"


def _number_column(is_column: bool) -> str:
    return "num" if is_column else "issue"


def _range(only: Condition) -> str:
    lower, upper = _literal(only.lower), _literal(only.upper)
    return f"= {lower}" if only.one else f"BETWEEN {lower} AND {upper}"


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return f"'{_copied(value)}'"
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"
