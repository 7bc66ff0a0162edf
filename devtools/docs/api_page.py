"""The reference of the API, made from the OpenAPI document: a page of calls and a page of schemas. Pure."""

import re
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from gridview.commands.actor import Role

API_PAGE: Final = "docs/api.md"
SCHEMAS_PAGE: Final = "docs/api-schemas.md"

_WIDTH: Final = 120
_KEPT: Final = "\0"
"""A space of code, at which no line ends."""

_OF_LISTS: Final = frozenset({"items", "next"})
"""The properties of a list with pages."""

GUIDES: Final[Mapping[str, str]] = {
    "Grid": "[Querying](querying.md)",
    "Issues": "[Writing](writing.md)",
    "Changes": "[Live changes](live.md)",
    "History": "[History and undo](history.md)",
    "Trash": "[The trash](writing.md#the-trash)",
    "Jobs": "[Bulk changes](bulk.md), [export](export.md)",
    "Projects": "[Quickstart](quickstart.md), [deleted projects](writing.md#deleted-projects)",
    "Attributes": "[Quickstart](quickstart.md), [deleted attributes](writing.md#deleted-attributes)",
    "Comments": "[Comments](views.md#comments)",
    "Views": "[Views](views.md)",
    "Indexes": "[Composite indexes](composite-indexes.md)",
    "Webhooks": "[Webhooks](webhooks.md)",
    "Users": "[Calls](calls.md#users)",
    "Service": "[Calls](calls.md#the-openapi-document)",
}
"""The pages that explain each group of operations, by its tag."""

_INTRODUCTION: Final = """\
# API reference

<!-- Made from the OpenAPI document by `./dev python -m devtools.docs`: do not edit it. -->

Every call of the HTTP API. This page is made from the OpenAPI document, which also has types, limits and examples. \
`GET {address}` returns the document, without a token. In a clone you need no stack:

```sh
./dev python -m devtools.openapi > openapi.json
```

## Conventions

- **Address.** Every path begins with `{base}`. Requests and answers are JSON. [Calls](calls.md#rules-of-all-calls) has the rules \
of all calls.
- **Authentication.** Send `Authorization: {scheme} TOKEN`. Each call names the lowest role that may make it: {roles}. \
[Authentication](authentication.md) shows how to get a token.
- **Pages.** A list answers `items` and `next`. Send `next` as `cursor` to read the next result page; null ends the list. \
See [pages of the grid](querying.md#pages) and [how long cursors work](consistency.md#cursors-of-pages).
- **Errors.** A refusal is a problem document with {problem} ([Errors](errors.md#the-problem-document)).
- **Repeats and conflicts.** [Sending a request again](writing.md#sending-a-request-again) and [two people in one \
issue](writing.md#two-people-in-one-issue) explain the headers of writes. [Consistency](consistency.md) explains tokens.
- **Schemas.** [Schemas](api-schemas.md) lists the properties of every body and answer.
- **Limits.** [Limits](limits.md) lists them all.
"""

_SCHEMAS: Final = """\
# API schemas

<!-- Made from the OpenAPI document by `./dev python -m devtools.docs`: do not edit it. -->

The properties of every body and answer of the [API reference](api.md). `?` marks a property that may be missing. The \
OpenAPI document has the types, limits and meanings.
"""

_NO_OPERATION: Final = """\
The table lacks types that belong to no operation. Each is in [Errors](errors.md#all-types):

- A path without the method answers 405 ([method-not-allowed](errors.md#method-not-allowed)).
- An unexpected failure answers 500 ([internal](errors.md#internal)).
- Sockets also refuse with 429: [too-many-sockets](errors.md#too-many-sockets), \
[too-many-subscriptions](errors.md#too-many-subscriptions), [too-many-messages](errors.md#too-many-messages).
"""


class _Operation(NamedTuple):
    """One operation of the document."""

    method: str
    path: str
    about: Mapping[str, Any]

    @property
    def refusals(self) -> list[str]:
        """The statuses of its problems."""
        return sorted(status for status in self.about["responses"] if int(status) >= 400)

    @property
    def writes(self) -> bool:
        """Whether it is part of a change."""
        return any(one["name"] == "X-Change-Id" for one in self.about["parameters"])


class _Use(NamedTuple):
    """A header of an operation's request (status 0), or of one of its answers."""

    operation: _Operation
    status: int = 0


def api_page(document: Mapping[str, Any]) -> str:
    """The page of the calls."""
    operations = list(_operations(document))
    common = set.intersection(*(set(one.refusals) for one in operations if "x-role" in one.about))
    page = [
        _wrapped(_introduction(document)),
        _wrapped(_statuses(operations, common)),
        _wrapped(_headers(operations)),
        *(_wrapped(_group(tag, operations, common)) for tag in document["tags"]),
    ]
    return "\n".join(page)


def schemas_page(document: Mapping[str, Any]) -> str:
    """The page of the schemas: of bodies, of answers, of lists with pages, and of their parts."""
    operations = list(_operations(document))
    schemas = document["components"]["schemas"]
    bodies = _named(one.about.get("requestBody", {}) for one in operations)
    answers = _named(part for one in operations for part in one.about["responses"].values())
    lists = {name for name in answers if set(schemas[name].get("properties", {})) == _OF_LISTS}
    parts = [
        _lines("Bodies", schemas, bodies),
        _lines("Answers", schemas, answers - lists - bodies),
        _lists(schemas, lists),
        _lines("Parts", schemas, {*schemas} - bodies - answers),
    ]
    return "\n".join(map(_wrapped, [_SCHEMAS, *parts]))


def _operations(document: Mapping[str, Any]) -> Iterator[_Operation]:
    for path, methods in document["paths"].items():
        yield from (_Operation(method.upper(), path, about) for method, about in methods.items())


def _introduction(document: Mapping[str, Any]) -> str:
    (scheme,) = document["components"]["securitySchemes"].values()
    (address,) = (one.path for one in _operations(document) if one.about["operationId"] == "openapi")
    return _INTRODUCTION.format(
        address=address,
        base=re.match(r"/\w+", address)[0],  # type: ignore[index]
        scheme=scheme["scheme"].capitalize(),
        roles=", ".join(f"*{role.name.lower()}*" for role in sorted(Role)),
        problem=_code(document["components"]["schemas"]["Problem"]["required"]),
    )


def _statuses(operations: list[_Operation], common: set[str]) -> str:
    """The problem types of each status, and the statuses that every call with a role can answer."""
    types: dict[str, dict[str, None]] = defaultdict(dict)
    for operation in operations:
        for status in operation.refusals:
            description = operation.about["responses"][status]["description"]
            types[status].update(dict.fromkeys(re.findall(r"\(`([\w-]+)`\)", description)))
    rows = "".join(
        f"| {status} | {', '.join(f'[{name}](errors.md#{name})' for name in types[status])} |\n"
        for status in sorted(types)
    )
    *most, last = sorted(common)
    return (
        f"### Refusals\n\n| status | problem types |\n|---|---|\n{rows}\n"
        f"Every call with a role can answer {', '.join(most)} and {last}, so the lists below omit these.\n\n"
        f"{_NO_OPERATION}"
    )


def _headers(operations: list[_Operation]) -> str:
    """The headers of requests and answers. One with several meanings has a line for each kind of call."""
    asked: dict[str, dict[str, list[_Use]]] = defaultdict(lambda: defaultdict(list))
    given: dict[str, dict[str, list[_Use]]] = defaultdict(lambda: defaultdict(list))
    for operation in operations:
        for parameter in operation.about["parameters"]:
            if parameter["in"] == "header":
                asked[parameter["name"]][parameter["description"]].append(_Use(operation))
        for status, answer in operation.about["responses"].items():
            for name, header in answer.get("headers", {}).items():
                given[name][header["description"]].append(_Use(operation, int(status)))
    parts = []
    for title, headers in (("requests", asked), ("answers", given)):
        lines = (
            f"- `{name}`{f', {_kind(uses)}' if len(abouts) > 1 else ''}: {_sentence(about)}\n"
            for name, abouts in sorted(headers.items())
            for about, uses in sorted(abouts.items(), key=lambda one: -len(one[1]))
        )
        parts.append(f"### Headers of {title}\n\n{''.join(lines)}")
    return "\n".join(parts)


def _kind(uses: list[_Use]) -> str:
    """The calls that have a header with one meaning, in words."""
    if all(use.status >= 400 for use in uses):
        return "refusals"
    if len(uses) == 1:
        return f"`{uses[0].operation.method} {uses[0].operation.path}`"
    writes = {use.operation.writes for use in uses}
    return "other calls" if len(writes) > 1 else "writes" if writes == {True} else "reads"


def _group(tag: Mapping[str, str], operations: list[_Operation], common: set[str]) -> str:
    name = tag["name"]
    lines = (_operation(one, common) for one in operations if name in one.about["tags"])
    return f"## {name}\n\n{_sentence(tag['description'])} See {GUIDES[name]}.\n\n{''.join(lines)}"


def _operation(operation: _Operation, common: set[str]) -> str:
    about = operation.about
    named = {
        place: [one["name"] for one in about["parameters"] if one["in"] == place]
        for place in ("query", "header")
    }
    body = about.get("requestBody", {}).get("content", {}).get("application/json", {})
    parts = [
        f"*{about['x-role'].capitalize()}*." if "x-role" in about else "No token.",
        f"Body: `{_reference(body['schema'])}`." if body else "",
        f"Query: {_code(named['query'])}." if named["query"] else "",
        f"Headers: {_code(named['header'])}." if named["header"] else "",
        f"Answers: {', '.join(_answers(operation, common))}.",
    ]
    return (
        f"- **`{operation.method} {operation.path}`** {_sentence(about['summary'])}<br>\n"
        f"{' '.join(part for part in parts if part)}\n"
    )


def _answers(operation: _Operation, common: set[str]) -> Iterator[str]:
    for status, answer in sorted(operation.about["responses"].items()):
        if int(status) < 400:
            schema = _reference(answer.get("content", {}).get("application/json", {}).get("schema", {}))
            yield f"{status} `{schema}`" if schema else status
        elif status not in common:
            yield status


def _named(parts: Iterable[Mapping[str, Any]]) -> set[str]:
    """The schemas of the contents of bodies or answers."""
    contents = (content for part in parts for content in part.get("content", {}).values())
    return {_reference(content["schema"]) for content in contents} - {""}


def _lines(title: str, schemas: Mapping[str, Any], chosen: set[str]) -> str:
    """A section with a line for each schema."""
    lines = (f"`{name}`: {_content(schemas[name])}.<br>\n" for name in sorted(chosen))
    return f"## {title}\n\n{''.join(lines)}"


def _lists(schemas: Mapping[str, Any], chosen: set[str]) -> str:
    """A section with the lists, which have the same properties, and the schemas of their items."""
    lines = (
        f"`{name}`: {_alternatives(schemas[name]['properties']['items']['items'])}.<br>\n"
        for name in sorted(chosen)
    )
    return f"## Lists\n\nEach has {_code(sorted(_OF_LISTS))}. These are the schemas of the items:\n\n{''.join(lines)}"


def _content(schema: Mapping[str, Any]) -> str:
    """The properties of a schema, its alternatives, its values, or its type."""
    if "properties" in schema:
        return ", ".join(_property(schema, one) for one in schema["properties"])
    if "enum" in schema:
        return f"one of {_code(schema['enum'])}"
    if "anyOf" in schema:
        return f"one of {_alternatives(schema)}"
    return f"a {schema['type']}"


def _alternatives(schema: Mapping[str, Any]) -> str:
    """The schemas that one may be, each by its name or its properties."""
    each = schema.get("anyOf", [schema])
    named = [_code([_reference(one)]) if "$ref" in one else f"({_content(one)})" for one in each]
    return ", ".join(named)


def _property(schema: Mapping[str, Any], name: str) -> str:
    return f"`{name}`" if name in schema.get("required", ()) else f"`{name}?`"


def _reference(schema: Mapping[str, Any]) -> str:
    """The name of a schema that is a reference, or an empty text."""
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _code(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _sentence(text: str) -> str:
    """The text as one line that ends with a period."""
    line = " ".join(text.split())
    return line if line.endswith((".", "?", "!")) else f"{line}."


def _wrapped(text: str) -> str:
    """The text with lines of at most 120 characters, but for rows of tables, code and words that are longer."""
    lines: list[str] = []
    fenced = listed = False
    for line in text.splitlines():
        fence, begins = line.startswith("```"), line.startswith("- ")
        fenced ^= fence
        listed = begins or (listed and bool(line))
        if fenced or fence or line.startswith(("|", "<!--")):
            lines.append(line)
            continue
        lines += textwrap.wrap(
            re.sub(r"`[^`]*`", lambda code: code[0].replace(" ", _KEPT), line),
            _WIDTH,
            initial_indent="  " if listed and not begins else "",
            subsequent_indent="  " if listed else "",
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]
    return "\n".join(lines).replace(_KEPT, " ") + "\n"
