"""judges.toml: what is read, and what is refused with one sentence that never holds a key."""

from __future__ import annotations

import pytest

from crubric_core.errors import SettingsError
from crubric_core.judging.judges_file import read_judges

WHOLE = """
[[judge]]
name = "a"
base_url = "https://host/v1"
model = "m"
key_env = "A_KEY"
input_price = 0.5
output_price = 2
requests_per_minute = 60
format = "json_object"

[[judge]]
name = "local"
base_url = "http://127.0.0.1:1/v1"
model = "n"
"""


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "judges.toml"
        path.write_text(text)
        return path

    return write


def test_the_key_comes_from_the_environment_alone_and_is_never_shown(write):
    first, second = read_judges(write(WHOLE), {"A_KEY": "hush"})
    assert (first.name, first.endpoint.model, first.requests_per_minute) == ("a", "m", 60)
    assert (first.endpoint.api_key, first.endpoint.response_format) == ("hush", "json_object")
    assert (first.endpoint.input_price, first.endpoint.output_price) == (0.5, 2.0)
    assert (second.endpoint.api_key, second.endpoint.input_price) == ("", None)
    assert "hush" not in repr(first)


def test_a_plan_needs_no_key(write):
    assert read_judges(write(WHOLE), {}, keys=False)[0].endpoint.api_key == ""


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('key_env = "A_KEY"', 'api_key = "sk-hush"', "api_key, which no judge has"),
        ('key_env = "A_KEY"', 'key_env = "OTHER"', "is not set"),
        ('name = "local"', 'name = "a"', "two judges of one name"),
        ('name = "local"', 'name = " "', "has no name"),
        ('model = "n"', "", "has no model"),
        ('model = "n"', "model = 5", "has no model"),
        ("https://host", "ftp://host", "not a web address"),
        ("json_object", "xml", "unknown"),
        ("input_price = 0.5", "input_price = -1", "give a number, 0 or more"),
        ("input_price = 0.5", "input_price = true", "give a number, 0 or more"),
        ("input_price = 0.5", f"timeout = 1{'0' * 400}", "give a number, 0 or more, at most 1,000,000,000"),
        ("input_price = 0.5", f"timeout = 1{'0' * 5000}", "is no TOML"),
        ("input_price = 0.5", "timeout = 0", "give a number above 0"),
        ("requests_per_minute = 60", "requests_per_minute = 0", "give a number above 0"),
        ("https://host/v1", "http://h:port/v1", "judge 1: .* not a web address"),
        ("https://host/v1", "http://[::1/v1", "not a web address"),
        ("https://host/v1", "http://", "not a web address"),
        ("https://host/v1", "http://a host/v1", "not a web address"),
        ("[[judge]]", "[[judges]]", r"\[\[judge\]\]"),
        ("[[judge]]", "[[judge", "is no TOML"),
    ],
)
def test_a_wrong_file_is_refused_with_one_sentence(write, old, new, sentence):
    with pytest.raises(SettingsError, match=sentence) as caught:
        read_judges(write(WHOLE.replace(old, new)), {"A_KEY": "sk-hush"})
    assert "hush" not in str(caught.value)


def test_space_around_a_key_is_no_part_of_it(write):
    endpoint = read_judges(write(WHOLE), {"A_KEY": " hush\n"})[0].endpoint
    with endpoint.client() as client:
        assert client.api_key == "hush"


@pytest.mark.parametrize("key", ["höush", "hu\nsh", "hush\x00"])
def test_a_key_that_no_server_can_be_sent_is_refused_and_not_shown(write, key):
    with pytest.raises(SettingsError, match="judge 1: The endpoint's key has") as caught:
        read_judges(write(WHOLE), {"A_KEY": key})
    assert key not in str(caught.value)


def test_a_key_of_spaces_is_none(write):
    with pytest.raises(SettingsError, match="is not set"):
        read_judges(write(WHOLE), {"A_KEY": " \n"})


def test_the_mark_that_some_editors_begin_a_file_with_is_no_part_of_it(write):
    assert len(read_judges(write("\ufeff" + WHOLE.lstrip()), {"A_KEY": "hush"})) == 2


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="cannot be read"):
        read_judges(tmp_path / "none.toml", {})
