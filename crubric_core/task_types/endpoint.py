"""An OpenAI-compatible endpoint: where it is, how to ask it once, and what its refusals mean."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import openai

from ..errors import SettingsError
from .answers import Answer
from .prompting import SCHEMA, SYSTEM, read_answer, user_message

Format = Literal["json_schema", "json_object", "text"]
LONGEST_WAIT = 300.0


@dataclass(frozen=True)
class Endpoint:
    """A model behind an OpenAI-compatible server.

    base_url: such as https://api.openai.com/v1. model: its name there. api_key: never shown.
    response_format: json_schema for structured output; json_object or text for servers that know no schema.
    input_price, output_price: per million tokens, in any currency; None where unknown.
    timeout: seconds for one request.
    """

    base_url: str
    model: str
    api_key: str = field(repr=False)
    response_format: Format = "json_schema"
    input_price: float | None = None
    output_price: float | None = None
    timeout: float = 60.0

    def __post_init__(self) -> None:
        if not self.base_url.startswith(("http://", "https://")):
            raise SettingsError(
                f"The classifier's address {self.base_url!r} is not a web address: give one such as https://host/v1."
            )
        if not self.model.strip():
            raise SettingsError("The classifier has no model: set CRUBRIC_TYPER_MODEL to its name.")
        if self.response_format not in get_args(Format):
            raise SettingsError(
                f"The classifier's format {self.response_format!r} is unknown: use {', '.join(get_args(Format))}."
            )

    @classmethod
    def from_environment(cls, secrets: Mapping[str, Any] | None = None) -> Endpoint | None:
        """From CRUBRIC_TYPER_BASE_URL, _MODEL, _KEY, _FORMAT, _INPUT_PRICE, _OUTPUT_PRICE; None without an address.

        ``secrets`` with the same names go before the environment.
        """
        found = {**os.environ, **(secrets or {})}
        base_url = str(found.get("CRUBRIC_TYPER_BASE_URL", ""))
        if not base_url:
            return None
        model, key = str(found.get("CRUBRIC_TYPER_MODEL", "")), str(found.get("CRUBRIC_TYPER_KEY", ""))
        shape: Any = found.get("CRUBRIC_TYPER_FORMAT") or "json_schema"
        return cls(base_url, model, key, shape, _price(found, "input"), _price(found, "output"))

    def client(self) -> openai.OpenAI:
        """The official client; repeats are the caller's, so that they can be counted, paced and cancelled."""
        return openai.OpenAI(
            base_url=self.base_url, api_key=self.api_key or "none", timeout=self.timeout, max_retries=0
        )

    def ask(self, client: openai.OpenAI, text: str) -> tuple[Answer | None, str, tuple[int, int]]:
        """One request: (answer or None, why there is none, tokens in and out). Raises openai.OpenAIError."""
        try:
            reply = self._complete(client, text)
        except ValueError:  # what the client lets through of a body that is no JSON
            return None, "the reply is not a chat completion", (0, 0)
        usage = getattr(reply, "usage", None)
        tokens = (usage.prompt_tokens or 0, usage.completion_tokens or 0) if usage else (0, 0)
        try:
            shares = read_answer(reply.choices[0].message.content)
        except (AttributeError, IndexError, TypeError):
            return None, "the reply is not a chat completion", tokens
        except ValueError as error:
            return None, str(error), tokens
        return Answer(self.model, shares, *tokens), "", tokens

    def _complete(self, client: openai.OpenAI, text: str) -> Any:
        shape: dict[str, Any] = {"type": self.response_format}
        if self.response_format == "json_schema":
            shape["json_schema"] = SCHEMA
        return client.chat.completions.create(  # type: ignore[call-overload]
            model=self.model,
            messages=[
                {"role": "system", "content": SYSTEM},
                {"role": "user", "content": user_message(text)},
            ],
            response_format=shape,
        )


@dataclass(frozen=True)
class Refusal:
    """Why a request failed: a reason to show, whether to try again and after how long, and whether all would fail."""

    reason: str
    retry: bool = True
    wait: float | None = None
    fatal: bool = False


def refusal(error: openai.OpenAIError) -> Refusal:
    """What an error of the client means for this query and for the run; never the key or the prompt."""
    if isinstance(error, openai.APITimeoutError):
        return Refusal("the endpoint did not answer in time")
    if isinstance(error, openai.APIConnectionError):
        return Refusal("the endpoint cannot be reached")
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        return Refusal("the endpoint refuses the key", retry=False, fatal=True)
    if isinstance(error, openai.NotFoundError):
        return Refusal("the endpoint knows no such model or address", retry=False, fatal=True)
    if isinstance(error, openai.RateLimitError):
        if error.code == "insufficient_quota":
            return Refusal("the account's quota is used up", retry=False, fatal=True)
        return Refusal("the endpoint's rate limit was reached", wait=_retry_after(error))
    if isinstance(error, openai.APIStatusError):
        again = error.status_code >= 500 or error.status_code in (408, 409)
        return Refusal(f"the endpoint answered with HTTP {error.status_code}", again, _retry_after(error))
    return Refusal("the endpoint's reply could not be read")


def _retry_after(error: openai.APIStatusError) -> float | None:
    """Seconds that the server asks for; None where it says nothing that can be read."""
    try:
        return min(max(float(error.response.headers.get("retry-after", "")), 0.0), LONGEST_WAIT)
    except ValueError:
        return None


def _price(found: Mapping[str, Any], kind: str) -> float | None:
    name = f"CRUBRIC_TYPER_{kind.upper()}_PRICE"
    value = found.get(name)
    try:
        return None if value in (None, "") else float(value)
    except (TypeError, ValueError) as error:
        raise SettingsError(
            f"{name} = {value!r} is not a number: give the price of a million tokens."
        ) from error
