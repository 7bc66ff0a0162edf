"""The reference of the API, made from the OpenAPI document. Pure."""

import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from gridview.commands.actor import Role

API_PAGE: Final = "docs/api.md"

MOST_WORDS: Final = 2_500
"""The most words of the page. Schemas that would exceed it are left to the document."""

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
- **Limits.** [Limits](limits.md) lists them all.
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


def api_page(document: Mapping[str, Any]) -> str:
    """The whole page, with the schemas that fit: all, or those of bodies and answers, or those of bodies."""
    operations = list(_operations(document))
    common = set.intersection(*(set(one.refusals) for one in operations if "x-role" in one.about))
    page = [
        _wrapped(_introduction(document)),
        _wrapped(_statuses(operations, common)),
        _wrapped(_headers(operations)),
        *(_wrapped(_group(tag, operations, common)) for tag in document["tags"]),
    ]
    schemas = document["components"]["schemas"]
    bodies = _named(one.about.get("requestBody", {}) for one in operations)
    answers = _named(part for one in operations for part in one.about["responses"].values())
    for chosen in ({*schemas}, bodies | answers, bodies):
        whole = "\n".join([*page, _wrapped(_schemas(schemas, chosen))])
        if len(whole.split()) <= MOST_WORDS:
            return whole
    return "\n".join(page)


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
        f"Every call with a role can answer {', '.join(most)} and {last}, so the lists below omit these.\n"
    )


def _headers(operations: list[_Operation]) -> str:
    """The headers of requests and answers, each with its descriptions, the most frequent first."""
    asked: dict[str, Counter[str]] = defaultdict(Counter)
    given: dict[str, Counter[str]] = defaultdict(Counter)
    for operation in operations:
        for parameter in operation.about["parameters"]:
            if parameter["in"] == "header":
                asked[parameter["name"]][parameter["description"]] += 1
        for answer in operation.about["responses"].values():
            for name, header in answer.get("headers", {}).items():
                given[name][header["description"]] += 1
    parts = []
    for title, headers in (("requests", asked), ("answers", given)):
        lines = (
            f"- `{name}`: {' '.join(_sentence(about) for about, _ in abouts.most_common())}\n"
            for name, abouts in sorted(headers.items())
        )
        parts.append(f"### Headers of {title}\n\n{''.join(lines)}")
    return "\n".join(parts)


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


def _schemas(schemas: Mapping[str, Any], chosen: set[str]) -> str:
    """A line for each schema with its properties. Lists of pages, which have the same ones, share a line."""
    described = {name: schemas[name].get("properties", {}) for name in sorted(chosen)}
    lists = [name for name, properties in described.items() if set(properties) == _OF_LISTS]
    lines = (
        f"`{name}`: {', '.join(_property(schemas[name], one) for one in properties)}.<br>\n"
        for name, properties in described.items()
        if properties and name not in lists
    )
    return (
        "## Schemas\n\nThe properties of bodies and answers. `?` marks one that may be missing. "
        f"The document has their types, and the schemas that they refer to.\n\n{''.join(lines)}"
        f"Lists with {_code(sorted(_OF_LISTS))}: {_code(lists)}.\n"
    )


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
