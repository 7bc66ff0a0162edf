"""The rules by which the page is served."""

import pytest

from infra import page


@pytest.mark.parametrize(
    ("path", "own"),
    [
        ("/", True),
        ("/callback", True),
        ("/projects/35e9", True),
        ("/projects/35e9/issues/3", True),
        ("/v1/projects", False),
        ("/local/session", False),
        ("/config.json", False),
        ("/projectsx", False),
        ("//projects", False),
        ("*", False),
    ],
)
def test_the_first_segment_says_whether_the_page_draws_a_path(path: str, own: bool) -> None:
    assert page.is_own(path) == own


def test_only_files_with_a_hash_in_their_name_are_immutable() -> None:
    kept = [
        path for path in ("/", "/index.html", "/assets/a-1f.js") if "immutable" in page.cache_control(path)
    ]
    assert kept == ["/assets/a-1f.js"]


def test_the_page_may_connect_to_its_own_origin_and_to_those_that_are_named() -> None:
    assert "connect-src 'self';" in page.security_headers()["content-security-policy"]
    named = page.security_headers(["https://a.example", "https://b.example"])["content-security-policy"]
    assert "connect-src 'self' https://a.example https://b.example;" in named


def test_the_content_security_policy_forbids_inline_code_and_styles() -> None:
    policy = page.security_headers()["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
