"""The URLs that a webhook may have, and the addresses that it may connect to. Pure.

A receiver is another party's server on the public internet. A URL may lead to a machine beside the function:
a private network, the metadata of the container, the machine itself. Its sender would then reach hosts that
it cannot reach itself.

The name in a URL proves nothing: its owner can let it resolve to any address, and to another one a moment
later. So addresses are judged at each attempt, and the connection is made to the very address that was
judged.
"""

import re
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple

MAX_URL = 2_048

_HTTPS_PORT = 443
_HTTP_PORT = 80

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST = rf"(?:{_LABEL}\.)+[a-z](?:[a-z0-9-]{{0,61}}[a-z0-9])?"
"""At least two labels, of which the last begins with a letter: `0x7f.1` and `127.1` are addresses to a resolver."""
_RESOURCE = r"/[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*"
_URL = re.compile(rf"(https?)://([^/?#]*)({_RESOURCE})?")
_AUTHORITY = re.compile(r"([^:@]*)(?::([0-9]{1,5}))?")

URL_PATTERN = rf"^https://{_HOST}(?::{_HTTPS_PORT})?(?:{_RESOURCE})?$"
"""The URLs that are taken everywhere."""

LOCALHOST = ("127.0.0.1", "localhost")
"""The hosts of this machine that are taken where that is allowed."""

_NO_HOST = "must have a host name in lower case, such as hooks.example.org, not an IP address"


class Target(NamedTuple):
    """The parts of a URL that a connection needs. `resource`: the path with the query."""

    secure: bool
    host: str
    port: int
    resource: str

    @property
    def here(self) -> bool:
        """Whether it is a server of this machine."""
        return self.host in LOCALHOST

    @property
    def authority(self) -> str:
        """The header `Host`."""
        return (
            self.host
            if self.port == (_HTTPS_PORT if self.secure else _HTTP_PORT)
            else f"{self.host}:{self.port}"
        )


class ForbiddenNetworks(NamedTuple):
    """Networks, and why nobody may be sent there."""

    why: str
    networks: tuple[IPv4Network | IPv6Network, ...]


def _forbidden(why: str, *networks: str) -> ForbiddenNetworks:
    made = tuple(IPv6Network(one) if ":" in one else IPv4Network(one) for one in networks)
    return ForbiddenNetworks(why, made)


FORBIDDEN: tuple[ForbiddenNetworks, ...] = (
    _forbidden("unspecified", "0.0.0.0/8", "::/128"),
    _forbidden("loopback", "127.0.0.0/8", "::1/128"),
    _forbidden("cloud metadata", "169.254.169.254/32", "169.254.170.2/32", "fd00:ec2::/32"),
    _forbidden("link-local", "169.254.0.0/16", "fe80::/10"),
    _forbidden("private", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"),
    _forbidden("shared by carriers", "100.64.0.0/10"),
    _forbidden("IPv4 in IPv6", "::ffff:0:0/96", "::ffff:0:0:0/96", "::/96"),
    _forbidden("NAT64", "64:ff9b::/96", "64:ff9b:1::/48"),
    _forbidden("6to4", "192.88.99.0/24", "2002::/16"),
    _forbidden("Teredo", "2001::/32"),
    _forbidden("multicast", "224.0.0.0/4", "ff00::/8"),
    _forbidden("benchmark", "198.18.0.0/15", "2001:2::/48"),
    _forbidden(
        "documentation",
        *("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"),
    ),
    _forbidden("protocol", "192.0.0.0/24", "2001::/23", "100::/64", "100:0:0:1::/64", "5f00::/16"),
    _forbidden("reserved", "240.0.0.0/4"),
)
"""The special networks of IPv4 and IPv6 (RFC 6890 and IANA's registries), the first that holds an address counts."""

_PUBLIC_IPV6 = IPv6Network("2000::/3")
"""All that has been given out of IPv6."""


def target_of(url: str, *, localhost: bool = False) -> Target:
    """Return the target of a URL. ValueError says why it is refused. `localhost`: accept servers of this
    machine too, at any port.

    Otherwise it has to be https at port 443 of a host with a name.
    """
    target = _parsed(url)
    if target.here and localhost:
        if not 1 <= target.port <= 65_535:
            raise ValueError("must have a port from 1 to 65535")
        return target
    if not target.secure:
        raise ValueError("must begin with https://")
    if not re.fullmatch(_HOST, target.host):
        raise ValueError(_NO_HOST)
    if target.port != _HTTPS_PORT:
        raise ValueError(f"must use port {_HTTPS_PORT}")
    return target


def _parsed(url: str) -> Target:
    """Return the parts of a URL, unchecked. ValueError if it is no URL."""
    if len(url) > MAX_URL:
        raise ValueError(f"must have at most {MAX_URL:,} characters")
    if not url.isascii():
        raise ValueError("must be ASCII: write a name in Punycode, and other characters as %XX")
    if "#" in url:
        raise ValueError("must have no fragment")
    parts = _URL.fullmatch(url)
    if parts is None:
        raise ValueError("must be a URL such as https://hooks.example.org/gridview")
    scheme, authority, resource = parts.groups()
    if "@" in authority:
        raise ValueError("must not contain a user or a password")
    named = _AUTHORITY.fullmatch(authority)
    if named is None:
        raise ValueError(_NO_HOST)
    if named[2] and named[2] != str(int(named[2])):
        raise ValueError("must have a port without leading zeros")
    secure = scheme == "https"
    port = int(named[2]) if named[2] else _HTTPS_PORT if secure else _HTTP_PORT
    return Target(secure, named[1], port, resource or "/")


def why_forbidden(address: str, *, localhost: bool = False) -> str | None:
    """Why nobody may be sent to an address, in a word or two; None: one may. `localhost`: one may be sent to
    127.0.0.1.
    """
    try:
        found = ip_address(address)
    except ValueError:
        return "not an IP address"
    if localhost and address == LOCALHOST[0]:
        return None
    if isinstance(found, IPv6Address) and found.scope_id is not None:
        return "link-local"
    for one in FORBIDDEN:
        if any(found in network for network in one.networks):
            return one.why
    # The remaining special ranges: the standard library's list, and unassigned addresses.
    if not found.is_global or (isinstance(found, IPv6Address) and found not in _PUBLIC_IPV6):
        return "not public"
    return None


def vetted(addresses: Sequence[str], *, localhost: bool = False) -> tuple[str, ...]:
    """Return these addresses, each once, if one may connect to all of them.

    ValueError if there is none, or one is forbidden: a name that also resolves to a neighbour is refused as a
    whole.
    """
    if not addresses:
        raise ValueError("the host has no address")
    for address in addresses:
        why = why_forbidden(address, localhost=localhost)
        if why is not None:
            raise ValueError(f"the host has a forbidden address ({why})")
    return tuple(dict.fromkeys(addresses))
