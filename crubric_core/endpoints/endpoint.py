"""An OpenAI-compatible endpoint: its address, a single request to it, and the meaning of its errors."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar, Literal, TypeVar, get_args
from urllib.parse import urlsplit

import openai

from ..errors import SettingsError

Format = Literal["json_schema", "json_object", "text"]
Tokens = tuple[float, float]  # numbers of tokens in and out, NaN if unknown
LONGEST_WAIT = 86_400.0  # a day, in seconds
T = TypeVar("T")
_DECODER = json.JSONDecoder()
MOST_BRACES = 50  # braces that begin no object, after which the search in an answer ends


@dataclass(frozen=True)
class Question:
    """One request: the instruction, the message with the data, and the JSON schema of the answer."""

    system: str
    user: str
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class Endpoint:
    """A model behind an OpenAI-compatible server.

    base_url: such as https://api.openai.com/v1. model: its name on the server. api_key: never shown.
    response_format: json_schema for structured output; json_object or text for servers that do not support schemas.
    input_price, output_price: per million tokens, in any currency; None if unknown.
    timeout: seconds for one request.
    """

    owner: ClassVar[str] = "endpoint"
    name_the_model: ClassVar[str] = "name one"

    base_url: str
    model: str
    api_key: str = field(repr=False)
    response_format: Format = "json_schema"
    input_price: float | None = None
    output_price: float | None = None
    timeout: float = 60.0

    def __post_init__(self) -> None:
        if not _is_address(self.base_url):
            raise SettingsError(
                f"The {self.owner}'s address {self.base_url!r} is not a web address: give one such as https://host/v1."
            )
        if not self.model.strip():
            raise SettingsError(f"The {self.owner} has no model: {self.name_the_model}.")
        if self.response_format not in get_args(Format):
            raise SettingsError(
                f"The {self.owner}'s format {self.response_format!r} is unknown: use {', '.join(get_args(Format))}."
            )
        if not (self.api_key.isascii() and self.api_key.strip().isprintable()):
            raise SettingsError(
                f"The {self.owner}'s key has letters beyond ASCII, or a line break within: set it as it was given."
            )

    def client(self) -> openai.OpenAI:
        """The official client, without its own retries: the caller retries, counts, limits and cancels requests."""
        client = openai.OpenAI(
            base_url=self.base_url,
            api_key=self.api_key.strip() or "none",
            timeout=self.timeout,
            max_retries=0,
        )
        # The environment's organization and project are for one server, and this may be another one.
        client.organization = client.project = None
        return client

    def complete(self, client: openai.OpenAI, question: Question) -> tuple[str | None, Tokens]:
        """Send one request; (text of the message, tokens), with None for the text if the reply is no chat completion.

        Tokens are NaN if a completion does not report them. Raises openai.OpenAIError.
        """
        try:
            reply = self._send(client, question)
        except ValueError:  # the client does not catch this for a body that is not JSON
            return None, (0, 0)
        usage, unknown = getattr(reply, "usage", None), math.nan if getattr(reply, "choices", None) else 0
        tokens = _count(usage, "prompt_tokens", unknown), _count(usage, "completion_tokens", unknown)
        try:
            return _text(reply.choices[0].message.content), tokens
        except (AttributeError, LookupError, TypeError):
            return None, tokens

    def cost(self, tokens_in: float, tokens_out: float) -> float:
        """Cost of that many tokens, in the currency of the prices; NaN if a price or a count is unknown."""
        if self.input_price is None or self.output_price is None:
            return float("nan")
        return (tokens_in * self.input_price + tokens_out * self.output_price) / 1e6

    def _send(self, client: openai.OpenAI, question: Question) -> Any:
        shape: dict[str, Any] = {"type": self.response_format}
        if self.response_format == "json_schema":
            shape["json_schema"] = question.schema
        return client.chat.completions.create(
            model=self.model,
            messages=[
                {"role": "system", "content": question.system},
                {"role": "user", "content": question.user},
            ],
            response_format=shape,
        )


def _count(usage: Any, name: str, unknown: float) -> float:
    """A number of tokens in the endpoint's usage; ``unknown`` if it is missing or not an integer."""
    found = getattr(usage, name, None)
    return found if isinstance(found, int) else unknown


def _text(content: Any) -> str | None:
    """The text of a message: of a list of parts, the text parts joined (others are thoughts); None if it has no text.

    Empty content is "".
    """
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part["type"] == "text")
    return content if isinstance(content, str) else None if content else ""


def _is_address(url: str) -> bool:
    try:
        found = urlsplit(url)
        whole = bool(found.hostname) and found.port != 0  # reading a port that is no number raises
    except ValueError:
        return False
    return whole and found.scheme in ("http", "https") and url.isprintable() and " " not in url


@dataclass(frozen=True)
class Refusal:
    """Why a request failed.

    reason: text to show. retry: whether a retry may help. wait: seconds to wait before it; None if not stated.
    fatal: whether all other requests would fail too. limited: whether only a rate limit was reached.
    """

    reason: str
    retry: bool = True
    wait: float | None = None
    fatal: bool = False
    limited: bool = False


def refusal(error: openai.OpenAIError) -> Refusal:
    """The meaning of a client's error for this question and for the run. It never contains the key or the prompt."""
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
        return Refusal("the endpoint's rate limit was reached", wait=_retry_after(error), limited=True)
    if isinstance(error, openai.APIStatusError):
        again = error.status_code >= 500 or error.status_code in (408, 409)
        return Refusal(f"the endpoint answered with HTTP {error.status_code}", again, _retry_after(error))
    return Refusal("the endpoint's reply could not be read")


def _retry_after(error: openai.APIStatusError) -> float | None:
    """Seconds to wait from the header retry-after, a number or a date, at most LONGEST_WAIT; None if not readable."""
    said = error.response.headers.get("retry-after", "")
    try:
        seconds = float(said)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(said).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return min(max(seconds, 0.0), LONGEST_WAIT) if not math.isnan(seconds) else None


def read_object(content: str, read: Callable[[dict[str, Any]], T], fields: Collection[str]) -> T:
    """Find the JSON object in an answer and return ``read(object)``.

    The model's thoughts (``<think>``) are not part of the answer. If the answer has several objects or other braces,
    only objects with all ``fields`` count, since others may be examples. Raises ValueError with the reason if there is
    no object, ``read`` rejects an object, or two objects give different results.
    """
    answer = content.strip()
    if not (answer.startswith("{") and answer.endswith("}")):
        answer = answer.rpartition("</think>")[2].partition("<think>")[0]
    objects, damaged = _objects(answer)
    if not objects:
        raise ValueError("the answer is not valid JSON" if damaged else "the answer holds no JSON object")
    if len(objects) > 1 or damaged:
        objects = [found for found in objects if set(fields) <= set(found)]
        if not objects:
            raise ValueError("the answer holds several objects, of which none has all fields")
    first, *others = [read(found) for found in objects]
    if any(other != first for other in others):
        raise ValueError("the answer holds several objects that say different things")
    return first


def _objects(text: str) -> tuple[list[dict[str, Any]], bool]:
    """The JSON objects in a text, and whether it has opening braces that begin no object."""
    objects: list[dict[str, Any]] = []
    damaged, at = 0, text.find("{")
    while at >= 0 and damaged < MOST_BRACES:
        try:
            found, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            damaged, end = damaged + 1, at + 1
        else:
            objects.append(found)
        at = text.find("{", end)
    return objects, damaged > 0
