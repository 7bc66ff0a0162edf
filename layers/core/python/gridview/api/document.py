"""The OpenAPI document as a file: what it contains is made when the functions are built (`infra.openapi`)."""

import gzip
from functools import cached_property
from pathlib import Path
from typing import Any

from gridview.encoding.json_codec import dumps, loads
from gridview.support.errors import MethodNotAllowed, NotFound, RequestError


class DocumentFile:
    """The document in this file, read when it is first asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def at(self, server: str) -> bytes:
        """The document, encoded, of an API that is reached at `server`."""
        return dumps({**self._document, "servers": [{"url": server}]})

    def refusal(self, key: str) -> RequestError:
        """The error of a route key that this function does not serve: MethodNotAllowed if its path has other methods alone."""
        method, _, path = key.partition(" ")
        methods = sorted(name.upper() for name in self._document["paths"].get(path, ()))
        if not methods or method in methods:
            return NotFound("Route not found.")
        allow = ", ".join(methods)
        return MethodNotAllowed(f"This path has no {method}. It has {allow}.", headers={"Allow": allow})

    @cached_property
    def _document(self) -> dict[str, Any]:
        document: dict[str, Any] = loads(gzip.decompress(self._path.read_bytes()))
        return document
