"""The allowed targets of webhooks: URLs, and addresses of every network that is not the public internet."""

from ipaddress import IPv4Network, IPv6Network, ip_address
from itertools import chain

import pytest

from gridview.live.targets import FORBIDDEN, MAX_URL, Target, target_of, vetted, why_forbidden
from tests.support import schemas

TAKEN = {
    "https://hooks.example.org": Target(True, "hooks.example.org", 443, "/"),
    "https://hooks.example.org:443/": Target(True, "hooks.example.org", 443, "/"),
    "https://a.b-c.d0/x/%20?q=1&r=//;@:": Target(True, "a.b-c.d0", 443, "/x/%20?q=1&r=//;@:"),
    "https://xn--brcke-lva.example/": Target(True, "xn--brcke-lva.example", 443, "/"),
    "https://1.2.3.example/": Target(True, "1.2.3.example", 443, "/"),
    "https://" + "a" * 63 + ".example/": Target(True, "a" * 63 + ".example", 443, "/"),
}

REFUSED = {
    "http://hooks.example.org/": "must begin with https://",
    "ftp://hooks.example.org/": "must be a URL",
    "HTTPS://hooks.example.org/": "must be a URL",
    "hooks.example.org": "must be a URL",
    "": "must be a URL",
    "https://": "must have a host name",
    "https:///path": "must have a host name",
    "https://hooks.example.org?q": "must be a URL",
    "https://hooks.example.org/ x": "must be a URL",
    "https://hooks.example.org/\r\nHost: x": "must be a URL",
    "https://hooks.example.org/\\": "must be a URL",
    "https://hooks.example.org/#top": "must have no fragment",
    "https://ann@hooks.example.org/": "must not contain a user",
    "https://ann:secret@hooks.example.org/": "must not contain a user",
    "https://hooks.example.org\\@10.0.0.1/": "must not contain a user",
    "https://brücke.example/": "must be ASCII",
    "https://hooks.example.org:8443/": "must use port 443",
    "https://hooks.example.org:22/": "must use port 443",
    "https://hooks.example.org:0/": "must use port 443",
    "https://hooks.example.org:99999/": "must use port 443",
    "https://hooks.example.org:0443/": "must have a port without leading zeros",
    "https://hooks.example.org:00443/": "must have a port without leading zeros",
    "https://hooks.example.org:4٤3/": "must be ASCII",
    "https://hooks.example.org:/": "must have a host name",
    "https://hooks.example.org:443@10.0.0.1/": "must not contain a user",
    "https://hooks.example.org%2f@10.0.0.1/": "must not contain a user",
    "https://10.0.0.1%2ehooks.example.org/": "must have a host name",
    "https://hooks.example.org,10.0.0.1/": "must have a host name",
    "https://hooks.example.org\n/": "must have a host name",
    "https://hooks.example.org:443:443/": "must have a host name",
    "https://Hooks.example.org/": "must have a host name in lower case",
    "https://hooks.example.org./": "must have a host name",
    "https://intranet/": "must have a host name",
    "https://localhost/": "must have a host name",
    "https://-a.example/": "must have a host name",
    "https://a-.example/": "must have a host name",
    "https://a..example/": "must have a host name",
    "https://" + "a" * 64 + ".example/": "must have a host name",
    "https://8.8.8.8/": "must have a host name",
    "https://127.0.0.1/": "must have a host name",
    "https://127.1/": "must have a host name",
    "https://2130706433/": "must have a host name",
    "https://0x7f000001/": "must have a host name",
    "https://0x7f.1/": "must have a host name",
    "https://0177.0.0.1/": "must have a host name",
    "https://[::1]/": "must have a host name",
    "https://[::ffff:8.8.8.8]:443/": "must have a host name",
    "https://hooks.example.org/" + "x" * MAX_URL: "must have at most 2,048 characters",
}


@pytest.mark.parametrize("url", TAKEN)
def test_a_url_leads_somewhere(url: str) -> None:
    assert target_of(url) == target_of(url, localhost=True) == TAKEN[url]


@pytest.mark.parametrize("url", REFUSED)
def test_a_url_that_is_not_taken_says_why(url: str) -> None:
    with pytest.raises(ValueError, match=REFUSED[url]):
        target_of(url)


@pytest.mark.parametrize("url", [*TAKEN, *REFUSED])
def test_the_schema_allows_what_is_taken_and_nothing_else(url: str) -> None:
    schema = schemas.named("WebhookCreate")["properties"]["url"]
    assert (schemas.violations(schema, url) == []) == (url in TAKEN)


def test_a_server_of_this_machine_is_taken_where_that_is_allowed() -> None:
    here = {
        "http://127.0.0.1:8000/hook": Target(False, "127.0.0.1", 8000, "/hook"),
        "http://localhost/": Target(False, "localhost", 80, "/"),
        "https://localhost:8443": Target(True, "localhost", 8443, "/"),
    }
    for url, target in here.items():
        assert target_of(url, localhost=True) == target
        with pytest.raises(ValueError, match="must"):
            target_of(url)
    for url in (
        "http://127.0.0.2:8000/",
        "http://hooks.example.org:8000/",
        "https://hooks.example.org:8000/",
        "http://10.0.0.1/",
        "http://[::1]:8000/",
        "http://localhost:0/",
        "http://localhost:65536/",
        "http://ann@localhost:8000/",
        "http://localhost:8000@10.0.0.1/",
        "http://localhost:08000/",
        "http://localhost.:8000/",
        "http://LOCALHOST:8000/",
        "http://127.1:8000/",
        "http://localhost,10.0.0.1:8000/",
    ):
        with pytest.raises(ValueError, match="must"):
            target_of(url, localhost=True)


@pytest.mark.parametrize(
    ("target", "authority"),
    [
        (Target(True, "a.example", 443, "/"), "a.example"),
        (Target(True, "localhost", 8443, "/"), "localhost:8443"),
        (Target(False, "localhost", 80, "/"), "localhost"),
        (Target(False, "localhost", 443, "/"), "localhost:443"),
    ],
)
def test_the_host_includes_its_port_unless_it_is_the_default(target: Target, authority: str) -> None:
    assert target.authority == authority


NETWORKS = [(one.why, network) for one in FORBIDDEN for network in one.networks]


@pytest.mark.parametrize(("why", "network"), NETWORKS, ids=lambda part: str(part))
def test_no_address_of_a_forbidden_network_is_connected_to(
    why: str, network: IPv4Network | IPv6Network
) -> None:
    """The first, the last and one in the middle; smaller networks of another name may be inside."""
    inside = network.network_address, network[network.num_addresses // 2], network.broadcast_address
    reasons = [why_forbidden(str(address)) for address in inside]
    assert None not in reasons
    assert why in reasons


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("0.0.0.0", "unspecified"),  # noqa: S104  (no server listens)
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("10.1.2.3", "private"),
        ("172.16.0.1", "private"),
        ("172.31.255.255", "private"),
        ("192.168.1.1", "private"),
        ("100.64.0.1", "shared by carriers"),
        ("100.127.255.255", "shared by carriers"),
        ("169.254.1.1", "link-local"),
        ("169.254.169.254", "cloud metadata"),
        ("169.254.170.2", "cloud metadata"),
        ("198.18.0.1", "benchmark"),
        ("198.19.255.255", "benchmark"),
        ("192.0.2.7", "documentation"),
        ("198.51.100.7", "documentation"),
        ("203.0.113.7", "documentation"),
        ("192.0.0.8", "protocol"),
        ("192.88.99.1", "6to4"),
        ("224.0.0.1", "multicast"),
        ("239.255.255.255", "multicast"),
        ("240.0.0.1", "reserved"),
        ("255.255.255.255", "reserved"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("::8.8.8.8", "IPv4 in IPv6"),
        ("::ffff:10.0.0.1", "IPv4 in IPv6"),
        ("::ffff:8.8.8.8", "IPv4 in IPv6"),
        ("::ffff:0:8.8.8.8", "IPv4 in IPv6"),
        ("64:ff9b::10.0.0.1", "NAT64"),
        ("64:ff9b::8.8.8.8", "NAT64"),
        ("64:ff9b:1::1", "NAT64"),
        ("2002:a00:1::", "6to4"),
        ("2001:0:1::1", "Teredo"),
        ("2001:2::1", "benchmark"),
        ("2001:10::1", "protocol"),
        ("2001:20::1", "protocol"),
        ("2001:db8::1", "documentation"),
        ("3fff::1", "documentation"),
        ("100::1", "protocol"),
        ("5f00::1", "protocol"),
        ("fd00:ec2::254", "cloud metadata"),
        ("fc00::1", "private"),
        ("fd12:3456::1", "private"),
        ("fe80::1", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("2606:4700::1%eth0", "link-local"),
        ("fec0::1", "private"),
        ("ff02::1", "multicast"),
        ("4000::1", "not public"),
        ("8000::1", "not public"),
        ("127.1", "not an IP address"),
        ("0x7f000001", "not an IP address"),
        ("2130706433", "not an IP address"),
        ("0177.0.0.1", "not an IP address"),
        ("", "not an IP address"),
    ],
)
def test_an_address_outside_the_public_internet_is_forbidden(address: str, why: str) -> None:
    assert why_forbidden(address) == why


BESIDE = [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.1",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2001:200::1",
    "2003::1",
    "2606:4700:4700::1111",
    "2a00:1450::1",
]


@pytest.mark.parametrize("address", BESIDE)
def test_the_addresses_beside_are_public(address: str) -> None:
    assert why_forbidden(address) is None


def test_every_address_special_to_the_standard_library_is_forbidden() -> None:
    spread = chain(
        (f"{a}.{b}.{c}.1" for a in range(256) for b in range(0, 256, 5) for c in (0, 2, 99, 100, 113)),
        (f"{first:x}:{second:x}::1" for first in range(0, 65_536, 7) for second in (0, 1, 2, 0xDB8, 0x64)),
    )
    missed = [
        address
        for address in spread
        if why_forbidden(address) is None
        if not (found := ip_address(address)).is_global or found.is_multicast or found.is_reserved
    ]
    assert missed == []


def test_only_127_0_0_1_of_this_machine_is_ever_allowed() -> None:
    assert why_forbidden("127.0.0.1", localhost=True) is None
    for address in ("127.0.0.2", "::1", "10.0.0.1", "169.254.169.254", "::ffff:127.0.0.1"):
        assert why_forbidden(address, localhost=True) is not None


def test_all_addresses_of_a_name_have_to_be_public() -> None:
    assert vetted(["1.1.1.1", "2606:4700::1", "1.1.1.1"]) == ("1.1.1.1", "2606:4700::1")
    for addresses in (["1.1.1.1", "10.0.0.1"], ["fd00::1", "1.1.1.1"]):
        with pytest.raises(ValueError, match=r"forbidden address \(private\)"):
            vetted(addresses)
    with pytest.raises(ValueError, match="no address"):
        vetted([])
    assert vetted(["127.0.0.1"], localhost=True) == ("127.0.0.1",)
    with pytest.raises(ValueError, match="loopback"):
        vetted(["127.0.0.1"])
