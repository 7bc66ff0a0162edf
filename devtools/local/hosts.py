"""The names of this machine in `Host` and `Origin`. A page of another name reaches 127.0.0.1 too, by DNS rebinding. Pure."""

import re
from collections.abc import Iterable

_OURSELVES = r"(?:127\.0\.0\.1|localhost)"
_HOST = re.compile(rf"{_OURSELVES}(?::([1-9][0-9]{{0,4}}))?")
CONTAINER_HOSTS = ("host.docker.internal", "host.containers.internal")
"""Names by which containers of Docker and Podman reach this machine."""
_BESIDE = re.compile(
    rf"(?:localhost|[0-9]{{1,3}}(?:\.[0-9]{{1,3}}){{3}}|{'|'.join(map(re.escape, CONTAINER_HOSTS))})(?::[0-9]{{1,5}})?"
)
_LAST_PORT = 65_535


def is_this_machine(host: str) -> bool:
    """Whether a `Host` header is 127.0.0.1 or localhost, in any case, with or without a port.

    Nothing else may follow or precede: `127.0.0.1:8420@evil.example` is a user, a password and another host.
    """
    found = _HOST.fullmatch(host.lower())
    return found is not None and int(found[1] or 1) <= _LAST_PORT


def is_beside(host: str) -> bool:
    """Whether a `Host` header is localhost, an IPv4 address or one of `CONTAINER_HOSTS`, with or without a port.

    No site on the web can have such a name, so none leads a browser here.
    """
    return _BESIDE.fullmatch(host.lower()) is not None


def is_page_of_this_machine(origin: str, port: int) -> bool:
    """Whether an `Origin` header is that of the page which this machine serves at a port."""
    default = "" if port == 80 else f":{port}"
    return re.fullmatch(rf"http://{_OURSELVES}{default}", origin) is not None


def joined(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Headers by lower-case names. A comma joins the values of one that was sent several times: none of them is hidden."""
    found: dict[str, str] = {}
    for name, value in headers:
        key = name.lower()
        found[key] = f"{found[key]}, {value}" if key in found else value
    return found
