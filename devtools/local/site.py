"""The page on this machine, beside the API on one origin, and who may ask for either."""

import gzip
import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote

from devtools.local import gateway, sessions
from devtools.local.gateway import Request, Response
from devtools.local.hosts import is_this_machine
from devtools.local.sessions import Sessions
from gridview.api.compression import LEAST_BYTES, accepts_gzip
from gridview.support.errors import Forbidden, MethodNotAllowed, NotFound, RequestError
from gridview.support.version import VERSION
from infra import page

_OWN_PAGES = frozenset({None, "same-origin", "none"})
"""Values of `Sec-Fetch-Site` of requests that no other page made."""

Api = Callable[[Request], Response]


class Site:
    """The files and answers of a stack for browsers."""

    def __init__(
        self, dist: Path, own: Sessions, origins: Sequence[str] = (), connect: Sequence[str] = ()
    ) -> None:
        """`dist`: the built page, if there is one. Pages of `origins` may call the API, with tokens of their own.

        The page connects to `connect` in addition to its own origin.
        """
        self._dist = dist.resolve()
        self._sessions = own
        self._origins = origins
        self._headers = page.security_headers(connect)

    def answer(self, request: Request, api: Api) -> Response:
        """The answer to any request; `api` answers those of the API."""
        host, origin = request.headers.get("host", "").lower(), request.headers.get("origin")
        own = origin in {None, f"http://{host}"}
        if not is_this_machine(host):
            return _refused(request, Forbidden("This host is not this machine."))
        if not own and not {origin, "*"} & set(self._origins):
            return _refused(request, Forbidden("Pages of this origin may not ask here (--allowed-origins)."))
        if request.path.startswith("/v1/"):
            if not own or request.headers.get("sec-fetch-site") not in _OWN_PAGES:
                return api(request)
            return api(self._sessions.with_token(request))
        try:
            if not own:
                raise Forbidden("Pages of other origins may call only the API.")
            found = self._found(request)
        except RequestError as error:
            found = gateway.refusal(error, request.id)
        return found._replace(headers=[*found.headers, *self._headers.items()])

    def _found(self, request: Request) -> Response:
        if request.path == sessions.PATH:
            return self._sessions.answer(request)
        file = self._dist / page.INDEX[1:] if page.is_own(request.path) else self._file(request.path)
        if request.path == page.CONFIG:
            content = json.dumps({"auth": "local", "version": VERSION}).encode()
        elif file.is_file():
            content = file.read_bytes()
        elif page.is_own(request.path):
            raise NotFound("The page is not built; `npm run build --workspace web` builds it.")
        else:
            raise NotFound("There is no such path.")
        if request.method not in {"GET", "HEAD"}:
            raise MethodNotAllowed("This path has only GET.", headers={"Allow": "GET, HEAD"})
        headers = [
            ("content-type", page.content_type(file.name)),
            ("cache-control", page.cache_control(request.path)),
            ("vary", "accept-encoding"),
        ]
        if len(content) >= LEAST_BYTES and accepts_gzip(request.headers.get("accept-encoding")):
            content = _packed(content)
            headers.append(("content-encoding", "gzip"))
        return Response(200, headers, content)

    def _file(self, path: str) -> Path:
        """The file at a path of the built page. NotFound for a path that leads out of it."""
        name = unquote(path).lstrip("/")
        found = (self._dist / name).resolve() if "\0" not in name else self._dist.parent
        if not found.is_relative_to(self._dist):
            raise NotFound("There is no such path.")
        return found


@lru_cache(maxsize=8)
def _packed(content: bytes) -> bytes:
    """Compress a file as CloudFront does. A page has few, and the largest takes 40 ms."""
    return gzip.compress(content, mtime=0)


def _refused(request: Request, error: RequestError) -> Response:
    return gateway.refusal(error, request.id)
