"""The OpenAPI document as a file: its content is made when the functions are built (`infra.openapi`)."""

import gzip
from functools import cached_property
from pathlib import Path
from typing import Any

from gridview.api.paths import EVERY_PATH, most_specific
from gridview.encoding.json_codec import dumps, loads
from gridview.support.errors import MethodNotAllowed, NotFound, RequestError


class DocumentFile:
    """The document in this file, read when it is first asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def at(self, server: str) -> bytes:
        """Return the document, encoded, of an API that is reached at `server`."""
        return dumps({**self._document, "servers": [{"url": server}]})

    def refusal(self, key: str, path: str) -> RequestError:
        """Return the error of a request whose route key this function does not serve.

        MethodNotAllowed if its path is known and has other methods only, else NotFound. The path is known by
        the key, or for a key of `EVERY_PATH` by the request's own, decoded path. An encoded slash therefore
        separates segments here.
        """
        method, _, declared = key.partition(" ")
        known = self._document["paths"]
        named = most_specific(known, path) if declared == EVERY_PATH else declared
        methods = sorted(name.upper() for name in known.get(named or "", ()))
        if not methods or method in methods:
            return NotFound("The API does not have this path. `GET /v1/openapi.json` lists all paths.")
        allow = ", ".join(methods)
        return MethodNotAllowed(f"This path does not allow {method}. Use {allow}.", headers={"Allow": allow})

    @cached_property
    def _document(self) -> dict[str, Any]:
        document: dict[str, Any] = loads(gzip.decompress(self._path.read_bytes()))
        return document
