"""Identify the visitor of the dashboard: anybody on this machine, or a signed-in user on the list of addresses.

`.streamlit/secrets.toml` holds Streamlit's own [auth] section and ours::

    [access]
    editors = ["ann@example.org"]
    viewers = ["ben@example.org"]   # see every analysis, change nothing
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit

import streamlit as st

from .. import access
from ..errors import AccessError
from .streamlit_internals import claims_of, on_a_page, option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

AUTH = ("redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url")
SECRET = 32  # characters of a cookie secret, at least
GUIDE = "docs/deploy.md says how"


@dataclass(frozen=True)
class People:
    """E-mail addresses by role, in the form that ``comparable`` returns."""

    editors: frozenset[str]
    viewers: frozenset[str]

    def role_of(self, user: Mapping[str, Any]) -> access.Role | None:
        """The role of a signed-in user; None for an address that is not on the list or not verified."""
        address = user.get("email")
        if user.get("is_logged_in") is not True or user.get("email_verified") is not True:
            return None
        if not isinstance(address, str):
            return None
        if comparable(address) in self.editors:
            return "editor"
        return "viewer" if comparable(address) in self.viewers else None


def comparable(address: str) -> str:
    """The form in which addresses are compared: in lower case if all ASCII, otherwise unchanged.

    Unicode lowers the Kelvin sign (U+212A) to an ASCII "k": a look-alike address would match one on the list.
    """
    return address.lower() if address.isascii() else address


def guard() -> People | None:
    """Take roles from the list of people from now on, if there is one; return it (see ``listed_people``)."""
    if (people := listed_people()) is not None:
        access.set_role_source(lambda: people.role_of(_user()))
    return people


def listed_people() -> People | None:
    """The list of people if a login is required; None if the dashboard serves this machine only.

    With None every visitor is an editor. Raises AccessError if other machines could reach the dashboard without a
    login, or if the configuration of the login is incomplete or unsafe.
    """
    secrets, wider = _secrets(), _served_wider()
    if "access" not in secrets and not wider:
        return None
    if "access" not in secrets:
        raise AccessError(
            f"The dashboard would be open to other machines without a login (server.address is "
            f"{option('server.address') or 'every address'!r}, server.allowedHosts is "
            f"{option('server.allowedHosts')}): add [auth] and [access] to .streamlit/secrets.toml "
            f"({GUIDE}), or keep both to localhost."
        )
    people = _people(secrets.get("access", {}))
    _check_login(secrets.get("auth", {}))
    return people


def is_local(host: str) -> bool:
    """Whether a host name or address is a loopback one, which only this machine can reach."""
    if host.strip().lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip().strip("[]")).is_loopback
    except ValueError:
        return False


def visitor() -> str | None:
    """The e-mail address of the signed-in visitor; None without a login."""
    address = _user().get("email")
    return address if isinstance(address, str) else None


def may_upload(people: People | None, request: Request) -> bool:
    """Whether the signed cookie of a request is an editor's; always True if there is no login (people is None)."""
    if people is None:
        return True
    return people.role_of(claims_of(request.cookies, request.headers.get("origin", ""))) == "editor"


def ask_to_sign_in() -> NoReturn:
    """Show the page for a visitor without a role, who may sign in or sign out again; end the script."""
    st.title("Calibrated Rubric", anchor=False)
    if _user().get("is_logged_in"):
        st.text(_why_outside(_user()))
        st.button("Sign out", on_click=st.logout)
    else:
        st.write("This server is restricted to listed users.")
        st.button("Sign in", type="primary", on_click=st.login)
    st.stop()


def _why_outside(user: Mapping[str, Any]) -> str:
    """Why a signed-in user has no access, and what helps. It never reveals whether an unverified address is listed."""
    address = user.get("email")
    if not isinstance(address, str):
        return "You are signed in, but the identity provider names no address: sign in with an account that has one."
    if user.get("email_verified") is not True:
        return f"The identity provider has not verified the address {address}: verify it there, then sign in again."
    return (
        f"{address} is not on this server's list: ask the person who runs the server, or use another account."
    )


def offer_to_sign_out() -> None:
    """Show the signed-in visitor's address and a button to sign out; nothing if there is no login."""
    address = visitor()
    if address is not None:
        st.sidebar.text(address)
        st.sidebar.button("Sign out", on_click=st.logout)


def _user() -> dict[str, Any]:
    """The identity provider's claims about the visitor of this page; {} outside a page."""
    return dict(st.user.to_dict()) if on_a_page() else {}


def _secrets() -> dict[str, Any]:
    if st.secrets.load_if_toml_exists():
        return dict(st.secrets.to_dict())
    broken = [path for path in option("secrets.files") if Path(path).exists()]
    if broken:
        raise AccessError(
            f"{broken[0]} cannot be read as TOML: the list of users is unknown. Fix or remove it."
        )
    return {}


def _served_wider() -> bool:
    """Whether other machines may reach the server: by its address, or through a proxy by another host name."""
    hosts = [option("server.address") or "", *option("server.allowedHosts")]
    return len(hosts) == 1 or not all(map(is_local, hosts))


def _people(section: Any) -> People:
    lists = {}
    for name in ("editors", "viewers"):
        given = section.get(name, []) if isinstance(section, dict) else None
        if not isinstance(given, list) or not all(isinstance(a, str) and "@" in a for a in given):
            raise AccessError(f"[access] {name} is {given!r}: expected a list of e-mail addresses ({GUIDE}).")
        lists[name] = frozenset(comparable(address.strip()) for address in given)
    if not lists["editors"]:
        raise AccessError(f"[access] names no editors: nobody could publish anything ({GUIDE}).")
    return People(**lists)


def _check_login(section: Any) -> None:
    auth = section if isinstance(section, dict) else {}
    missing = [name for name in AUTH if not auth.get(name)]
    if missing:
        raise AccessError(f"[auth] lacks {', '.join(missing)}: without it nobody can sign in ({GUIDE}).")
    if len(str(auth["cookie_secret"])) < SECRET:
        raise AccessError(
            f"[auth] cookie_secret has {len(str(auth['cookie_secret']))} characters: take {SECRET} random ones at "
            'least, such as python -c "import secrets; print(secrets.token_urlsafe(32))" prints.'
        )
    for name in ("redirect_uri", "server_metadata_url"):
        address = urlsplit(str(auth[name]))
        if address.scheme != "https" and not is_local(address.hostname or ""):
            raise AccessError(
                f"[auth] {name} is {auth[name]!r}: expected an address that begins with https://."
            )
    for name in ("server.enableXsrfProtection", "server.enableCORS"):
        if not option(name):
            raise AccessError(f"{name} is off: another site could act in a visitor's name. Leave it on.")
    if option("server.trustedUserHeaders"):
        raise AccessError("server.trustedUserHeaders is set: a header would say who visits. Leave it out.")
