import pytest
from pydantic import TypeAdapter, ValidationError

from runner.definitions.interpolation import fill
from runner.definitions.secret import Secret, SecretUrl


def test_a_secret_is_revealed_only_on_purpose() -> None:
    secret = Secret.from_text("sk-1234")

    assert secret.reveal() == "sk-1234"
    assert "sk-1234" not in f"{secret} {secret!r} {secret.__reduce_ex__}"
    assert TypeAdapter(Secret).dump_json(secret) == b'"***"'


def test_a_secret_made_of_a_variable_is_shown_as_it_was_written() -> None:
    secret = Secret.from_text(fill("${KEY}", {"KEY": "sk-1234"}).text)

    assert (secret.reveal(), str(secret)) == ("sk-1234", "${KEY}")


def test_an_empty_secret_is_false_and_shows_nothing() -> None:
    assert not Secret.from_text("")
    assert str(Secret.from_text("")) == ""
    assert Secret.from_text("x")


def test_secrets_are_equal_by_value() -> None:
    first, second = Secret.from_text("x"), Secret.from_text("x")

    assert first == second
    assert hash(first) == hash(second)
    assert first != "x"


def test_a_secret_that_is_no_text_is_refused_without_its_value() -> None:
    with pytest.raises(ValidationError, match="expected text") as raised:
        TypeAdapter(Secret).validate_python(1234)

    assert raised.value.errors(include_input=False)[0]["type"] == "string_type"


def test_a_secret_passes_validation_as_it_is() -> None:
    secret = Secret.from_text("x")

    assert TypeAdapter(Secret).validate_python(secret) is secret


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sqlite:///runner.db", "sqlite:///runner.db"),
        ("memory://", "memory://"),
        ("postgresql://app:pw@host:5432/db", "postgresql://app:***@host:5432/db"),
        ("postgresql://app:p@ss/w@host/db", "postgresql://app:***@host/db"),
        ("redis://token@host/0", "redis://***@host/0"),
        ("postgresql://host/db?password=pw&x=1", "postgresql://host/db?password=***&x=***"),
        ("host=db password=pw", "***"),
        ("postgresql://host:pw/db", "postgresql://host:***/db"),
        ("postgresql://app:p?w@host/db", "postgresql://app:***?***"),
        ("postgresql://app:pw@[::1]/db", "postgresql://app:***@[::1]/db"),
    ],
)
def test_a_url_is_shown_without_what_may_be_a_credential(url: str, shown: str) -> None:
    secret = SecretUrl.from_text(url)

    assert (str(secret), secret.reveal()) == (shown, url)
