"""Who may come to the dashboard, and when it does not start at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit import config

from crubric_core import access
from crubric_core.errors import AccessError
from crubric_core.server.sign_in import People, guard, is_local, listed_people

AUTH = {
    "redirect_uri": '"https://rubric.example.org/oauth2callback"',
    "cookie_secret": f'"{"s" * 43}"',
    "client_id": '"id"',
    "client_secret": '"secret"',
    "server_metadata_url": '"https://id.example.org/.well-known/openid-configuration"',
}
ACCESS = {"editors": '["Ann@Example.org"]', "viewers": '["ben@example.org"]'}
Configure = Callable[..., None]


@pytest.fixture
def configure(tmp_path: Path) -> Iterator[Configure]:
    """Sets Streamlit's options and writes its secrets, and puts everything back."""
    before: dict[str, Any] = {}

    def write(
        auth: dict[str, str] | None = None,
        people: dict[str, str] | None = None,
        text: str = "",
        **options: object,
    ) -> None:
        sections = {"auth": auth, "access": people}
        lines = [
            line
            for name, section in sections.items()
            if section is not None
            for line in (f"[{name}]", *(f"{key} = {value}" for key, value in section.items()))
        ]
        path = tmp_path / "secrets.toml"
        if lines or text:
            path.write_text(text or "\n".join(lines))
        chosen = {"secrets.files": [str(path)]} | {k.replace("_", ".", 1): v for k, v in options.items()}
        for name, value in chosen.items():
            before.setdefault(name, config.get_option(name))
            config.set_option(name, value)
        st.secrets._reset()

    yield write
    for name, value in before.items():
        config.set_option(name, value)
    st.secrets._reset()
    access.set_role_source(access._owner)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.", "127.0.0.1", "127.8.0.1", "::1", "[::1]"])
def test_these_names_mean_this_machine(host: str) -> None:
    assert is_local(host)


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "", "192.168.1.5", "localhost.example.org", "0", "127.1", "*", "unix:///run/x"]
)
def test_these_do_not(host: str) -> None:
    assert not is_local(host)


def test_on_this_machine_alone_there_is_no_login(configure: Configure) -> None:
    configure(server_address="localhost", server_allowedHosts=["localhost", "127.0.0.1"])
    assert guard() is None
    assert access.current_role() == "editor"


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "", None, "192.168.1.5", "rubric.example.org"])
def test_served_wider_without_a_login_it_does_not_start(configure: Configure, address: str | None) -> None:
    configure(server_address=address)
    with pytest.raises(AccessError, match=r"open to other machines without a login.*\[auth\] and \[access\]"):
        guard()


@pytest.mark.parametrize("hosts", [[], ["*"], ["localhost", "rubric.example.org"]])
def test_a_name_that_a_proxy_would_use_asks_for_a_login_too(configure: Configure, hosts: list[str]) -> None:
    configure(server_address="localhost", server_allowedHosts=hosts)
    with pytest.raises(AccessError, match="open to other machines"):
        guard()


def test_with_a_login_it_is_served_wider(configure: Configure) -> None:
    configure(AUTH, ACCESS, server_address="0.0.0.0")
    assert guard() == People(frozenset({"ann@example.org"}), frozenset({"ben@example.org"}))
    assert access.current_role() is None  # outside a page nobody is known


def test_looking_at_a_changed_list_changes_nothing_until_the_next_start(configure: Configure) -> None:
    configure(server_address="localhost", server_allowedHosts=["localhost"])
    guard()
    configure(AUTH, ACCESS, server_address="localhost")
    assert listed_people() is not None
    assert access.current_role() == "editor"


def test_where_a_list_is_given_even_this_machine_has_to_sign_in(configure: Configure) -> None:
    configure(AUTH, ACCESS, server_address="localhost")
    assert guard() is not None


@pytest.mark.parametrize("missing", AUTH)
def test_half_a_login_is_none(configure: Configure, missing: str) -> None:
    configure({key: value for key, value in AUTH.items() if key != missing}, ACCESS, server_address="0.0.0.0")
    with pytest.raises(AccessError, match=missing):
        guard()


@pytest.mark.parametrize(
    ("auth", "people", "says"),
    [
        ({"cookie_secret": '"short"'}, {}, "5 characters"),
        ({"redirect_uri": '"http://rubric.example.org/oauth2callback"'}, {}, "https"),
        ({"server_metadata_url": '"http://id.example.org/"'}, {}, "https"),
        ({}, {"editors": "[]"}, "no editors"),
        ({}, {"editors": '"ann@example.org"'}, "list of e-mail addresses"),
        ({}, {"viewers": '["ben"]'}, "list of e-mail addresses"),
    ],
)
def test_a_weak_login_is_refused_by_name(
    configure: Configure, auth: dict[str, str], people: dict[str, str], says: str
) -> None:
    configure(AUTH | auth, ACCESS | people, server_address="0.0.0.0")
    with pytest.raises(AccessError, match=says):
        guard()


@pytest.mark.parametrize(
    "options",
    [
        {"server_enableXsrfProtection": False},
        {"server_enableCORS": False},
        {"server_trustedUserHeaders": {"X-User": "email"}},
    ],
)
def test_what_would_undermine_the_login_is_refused(configure: Configure, options: dict[str, Any]) -> None:
    configure(AUTH, ACCESS, server_address="0.0.0.0", **options)
    with pytest.raises(AccessError, match=r"server\."):
        guard()


def test_secrets_that_cannot_be_read_let_nobody_in(configure: Configure) -> None:
    configure(text="[access\neditors = ", server_address="localhost")
    with pytest.raises(AccessError, match=r"secrets\.toml cannot be read"):
        guard()


SIGNED_IN = {"is_logged_in": True, "email": "ann@example.org", "email_verified": True}


@pytest.mark.parametrize(
    ("user", "role"),
    [
        (SIGNED_IN, "editor"),
        (SIGNED_IN | {"email": "ANN@example.ORG"}, "editor"),
        (SIGNED_IN | {"email": "ben@example.org"}, "viewer"),
        (SIGNED_IN | {"email": "eve@example.org"}, None),
        (SIGNED_IN | {"email": "ann@example.org.evil.example"}, None),
        (SIGNED_IN | {"email": None}, None),
        (SIGNED_IN | {"email_verified": False}, None),
        (SIGNED_IN | {"email_verified": "true"}, None),
        ({"is_logged_in": True, "email": "ann@example.org"}, None),
        (SIGNED_IN | {"is_logged_in": False}, None),
        ({}, None),
    ],
)
def test_a_role_belongs_to_a_verified_address_on_the_list(user: dict[str, Any], role: str | None) -> None:
    people = People(frozenset({"ann@example.org"}), frozenset({"ben@example.org"}))
    assert people.role_of(user) == role


KELVIN = "\u212aate@example.org"  # the Kelvin sign; str.lower() makes it "kate@example.org"
LONG_S = "\u017fam@example.org"  # str.upper() and casefold() make it an "s"


def people(configure: Configure, *editors: str) -> People:
    configure(AUTH, {"editors": str(list(editors))}, server_address="localhost")
    found = guard()
    assert found is not None
    return found


@pytest.mark.parametrize("lookalike", [KELVIN, LONG_S, "kate@example.org\u200b", "ｋate@example.org"])
def test_an_address_that_only_looks_like_one_on_the_list_is_a_strangers(
    configure: Configure, lookalike: str
) -> None:
    found = people(configure, "kate@example.org", "sam@example.org")
    assert found.role_of(SIGNED_IN | {"email": "KATE@example.org"}) == "editor"
    assert found.role_of(SIGNED_IN | {"email": lookalike}) is None


def test_an_address_beyond_ascii_is_on_the_list_exactly_as_it_is_written_there(configure: Configure) -> None:
    found = people(configure, "J\u00fcrgen@example.org")
    assert found.role_of(SIGNED_IN | {"email": "J\u00fcrgen@example.org"}) == "editor"
    for other in ("j\u00fcrgen@example.org", "J\u00dcRGEN@example.org", "Ju\u0308rgen@example.org"):
        assert found.role_of(SIGNED_IN | {"email": other}) is None


def test_a_list_with_a_lookalike_lets_the_plain_address_not_in(configure: Configure) -> None:
    assert people(configure, KELVIN).role_of(SIGNED_IN | {"email": "kate@example.org"}) is None
