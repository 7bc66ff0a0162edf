"""The hosts and origins of this machine, against every way in which an authority can imitate one."""

import re

import pytest

from devtools.local.hosts import is_beside, is_page_of_this_machine, is_this_machine, joined
from devtools.local.socket_gateway import why_refused

OURS = ("127.0.0.1", "localhost", "LOCALHOST", "LocalHost:9000", "127.0.0.1:1", "127.0.0.1:65535")

STRANGERS = (
    "",
    ":8420",
    # userinfo
    "127.0.0.1:8931@evil.example",
    "127.0.0.1@evil.example",
    "localhost:8931@evil.example:80",
    "ann@127.0.0.1:8931",
    "ann:x@localhost",
    # ports
    "127.0.0.1:",
    "127.0.0.1:0",
    "127.0.0.1:08420",
    "127.0.0.1:65536",
    "127.0.0.1:99999",
    "127.0.0.1:84200000",
    "127.0.0.1:x",
    "127.0.0.1:-1",
    "127.0.0.1:8420:8420",
    "127.0.0.1:٨٤٢٠",
    # other spellings of an address
    "[::1]",
    "[::1]:8420",
    "::1",
    "[::ffff:127.0.0.1]:8420",
    "127.1",
    "127.0.0.2",
    "0x7f000001",
    "2130706433",
    "0177.0.0.1",
    "１２７.0.0.1",
    "127。0。0。1",
    # names that begin or end like a local one
    "localhost.",
    "localhost.:8420",
    "127.0.0.1.",
    "127.0.0.1.evil.example",
    "localhost.evil.example:8420",
    "evil.localhost",
    "evil-localhost",
    "xn--localhost",
    "ſocalhost",
    "locaſhost",
    "lоcalhost",
    # lists, blanks, paths
    "127.0.0.1:8420, evil.example",
    "evil.example, 127.0.0.1:8420",
    "127.0.0.1:8420,127.0.0.1:8420",
    " 127.0.0.1",
    "127.0.0.1:8420 ",
    "127.0.0.1:8420\n",
    "127.0.0.1\t",
    "127.0.0.1:8420/",
    "127.0.0.1/evil.example",
    "127.0.0.1?evil.example",
    "127.0.0.1#evil.example",
    "127.0.0.1\\evil.example",
    "127.0.0.1%2eevil.example",
    "http://127.0.0.1:8420",
)


@pytest.mark.parametrize("host", OURS)
def test_this_machine_has_two_names(host: str) -> None:
    assert is_this_machine(host)
    assert why_refused({"host": host}, 8420, ()) is None


@pytest.mark.parametrize("host", STRANGERS)
def test_no_other_authority_is_this_machine(host: str) -> None:
    assert not is_this_machine(host)
    assert why_refused({"host": host}, 8420, ()) is not None


@pytest.mark.parametrize(
    "host", [*OURS, "172.17.0.1:4000", "host.docker.internal:4000", "Host.Containers.Internal"]
)
def test_containers_reach_this_machine_by_addresses_and_names(host: str) -> None:
    assert is_beside(host)


NAMED = [one for one in STRANGERS if re.search("[a-z]", one)]
"""Strangers that are no address."""


@pytest.mark.parametrize("host", ["", *NAMED, "evil.example:4000", "host.docker.internal.evil.example"])
def test_no_name_of_the_web_is_beside_this_machine(host: str) -> None:
    assert not is_beside(host)


def test_a_host_that_is_missing_is_none() -> None:
    assert why_refused({}, 8420, ()) is not None


@pytest.mark.parametrize("origin", ["http://127.0.0.1:8420", "http://localhost:8420"])
def test_the_page_of_this_machine_has_two_origins(origin: str) -> None:
    assert is_page_of_this_machine(origin, 8420)
    assert why_refused({"host": "127.0.0.1:8421", "origin": origin}, 8420, ()) is None


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example:8420",
        "http://evil.example@localhost:8420",
        "http://localhost:8420@evil.example",
        "http://localhost:8420@evil.example:8420",
        "http://localhost:8421",
        "http://localhost:18420",
        "http://localhost",
        "https://localhost:8420",
        "http://localhost:8420/",
        "http://localhost:8420/path",
        "http://localhost:8420, http://evil.example",
        "http://localhost:8420 ",
        "http://localhost.:8420",
        "http://[::1]:8420",
        "http://LOCALHOST:8420",
        "HTTP://localhost:8420",
        "http://:8420",
        "http://[",
        "null",
        "",
    ],
)
def test_no_other_origin_is_the_page(origin: str) -> None:
    assert not is_page_of_this_machine(origin, 8420)
    assert why_refused({"host": "127.0.0.1:8421", "origin": origin}, 8420, ()) is not None


def test_at_the_usual_port_an_origin_has_none() -> None:
    assert is_page_of_this_machine("http://localhost", 80)
    assert not is_page_of_this_machine("http://localhost:80", 80)


def test_a_header_that_is_sent_twice_hides_none_of_its_values() -> None:
    twice = [("Host", "evil.example"), ("host", "127.0.0.1"), ("Origin", "null")]
    assert joined(twice) == {"host": "evil.example, 127.0.0.1", "origin": "null"}
    assert not is_this_machine(joined(twice)["host"])
