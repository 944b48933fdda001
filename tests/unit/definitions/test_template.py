import pytest

from runner.definitions.template import keys, render


def test_the_keys_of_a_template_are_each_named_once() -> None:
    assert keys("{path} saved, {count} of {path}; {{as is}}") == ("path", "count")


@pytest.mark.parametrize(
    "text", ["{", "}", "{}", "{a.b}", "{a[0]}", "{a!r}", "{a:>9}", "{0}", "{a"]
)
def test_nothing_but_a_key_may_stand_in_braces(text: str) -> None:
    with pytest.raises(ValueError, match="enclose a key"):
        keys(text)


def test_values_are_put_in_as_text_or_json() -> None:
    values = {"path": "a{b}.md", "count": 2, "tags": ["é"], "on": True}

    text = render("{path} {count} {tags} {on} {missing} {{path}}", values)

    assert text == 'a{b}.md 2 ["é"] true {missing} {path}'
