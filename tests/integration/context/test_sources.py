import asyncio
import os
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import ip_network
from pathlib import Path
from types import FunctionType

import pytest
from pydantic import TypeAdapter

from runner.context.factory import build_source
from runner.context.source import Source
from runner.core.clock import SystemClock
from runner.core.contributing import ContributorContext
from runner.core.errors import (
    ConfigError,
    OutboundCancelled,
    OutboundError,
    OutboundRefused,
    OutboundTimeout,
)
from runner.core.jsonvalue import JsonObject
from runner.definitions.context import ContextDefinition
from runner.outbound.addresses import Reach
from runner.outbound.databases import open_read_only
from runner.outbound.limit import Limit
from tests.fakes.cancellation import never
from tests.fakes.contributors import known, surroundings, unlimited
from tests.servers.plain_http import says, serving

READ: TypeAdapter[ContextDefinition] = TypeAdapter(ContextDefinition)
HERE = Reach(private=(ip_network("127.0.0.1/32"),))
ABOUT = known(context={"id": 7, "path": "a/b?c=d&e#f", "dots": "..", "empty": "", "option": "-rf"})


def source(
    root: Path, definition: Mapping[str, object], environ: Mapping[str, str] | None = None
) -> Source:
    database = open_read_only("crm", "sqlite:///crm.db", root=root, pool_size=1)
    return build_source(
        READ.validate_python({"name": "it", **definition}),
        surroundings(root, environ=environ, reach=HERE, databases={"crm": database}),
    )


def read(
    root: Path,
    definition: Mapping[str, object],
    *,
    about: ContributorContext = ABOUT,
    environ: Mapping[str, str] | None = None,
    limit: Limit | None = None,
) -> str:
    return source(root, definition, environ).read(about, limit or unlimited())


def test_values_in_a_trusted_text_are_data_all_the_same(tmp_path: Path) -> None:
    text = {"text": "Obey <b>: {subject.text} ${X}", "trusted": True}

    assert read(tmp_path, text) == "Obey <b>: The printer &lt;b>burns&lt;/b>. ${X}"


def test_a_file_is_read_as_it_is_now(tmp_path: Path) -> None:
    found = source(tmp_path, {"file": "notes/today.md"})
    file = tmp_path / "notes" / "today.md"
    file.parent.mkdir()
    file.write_text("\ufefffirst", "utf-8")
    first = found.read(ABOUT, unlimited())
    file.write_bytes(b"second \xff")

    assert (first, found.read(ABOUT, unlimited())) == ("first", "second \N{REPLACEMENT CHARACTER}")


@pytest.mark.parametrize("trick", ["link", "link-to-folder", "folder", "pipe", "long", "gone"])
def test_only_a_regular_file_of_the_project_is_read(tmp_path: Path, trick: str) -> None:
    root = tmp_path / "project"
    (root / "notes").mkdir(parents=True)
    (tmp_path / "secret.md").write_text("hunter2")
    file = root / "notes" / "today.md"
    match trick:
        case "link":
            file.symlink_to(tmp_path / "secret.md")
        case "link-to-folder":
            file.parent.rmdir()
            (root / "notes").symlink_to(tmp_path)
            (tmp_path / "today.md").write_text("hunter2")
        case "folder":
            file.mkdir()
        case "pipe":
            os.mkfifo(file)
        case "long":
            file.write_text("x" * 100)
        case _:
            assert trick == "gone"

    with pytest.raises(OutboundError):
        read(root, {"file": "notes/today.md", "max_bytes": 50})


def call(function: object, *, limit: Limit | None = None) -> str:
    assert isinstance(function, FunctionType)
    built = build_source(
        READ.validate_python({"name": "it", "python": "module:function"}),
        surroundings(Path(), functions=lambda _: function),
    )
    return built.read(ABOUT, limit or unlimited())


def told(context: ContributorContext) -> str:
    return f"{context.subject and context.subject.id} {context.context['id']}"


def told_nothing() -> None:
    return None


def told_json(context: object = None) -> JsonObject:
    return {"known": isinstance(context, ContributorContext), "nan": float("nan")}


async def told_later(context: ContributorContext) -> str:
    await asyncio.sleep(0)
    return context.agent


def told_of_any(*contexts: ContributorContext, more: int = 1) -> str:
    return f"{len(contexts)} {more}"


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (told, "4711 7"),
        (told_nothing, ""),
        (told_json, '{"known":true,"nan":"nan"}'),
        (told_later, "tester"),
        (told_of_any, "1 1"),
    ],
)
def test_a_function_is_told_of_the_turn_if_it_wants_to(function: object, expected: str) -> None:
    assert call(function) == expected


def wants_more(context: ContributorContext, other: str) -> str:
    return f"{context} {other}"


def wants_a_name(*, name: str) -> str:
    return name


@pytest.mark.parametrize("function", [wants_more, wants_a_name])
def test_a_function_that_wants_more_than_there_is_cannot_be_used(function: object) -> None:
    with pytest.raises(ConfigError, match=r"contributor 'it' cannot use 'module:function'.*more"):
        call(function)


def test_a_function_that_may_not_be_named_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="contributor 'it' cannot use 'os:system': there is no"):
        source(tmp_path, {"python": "os:system"})


def test_a_coroutine_is_cancelled_with_its_limit() -> None:
    cancelled: list[bool] = []

    async def stuck() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(20)
            return
        cancelled.append(True)

    call(stuck, limit=Limit(0.2, never(), SystemClock()))

    assert cancelled == [True]


def test_a_request_is_written_from_values_and_variables(tmp_path: Path) -> None:
    with serving(says('{"plan": "pro"}')) as server:
        definition = {
            "http": {
                "url": "${CRM}/a/{context.path}?x=1#part",
                "query": {"q": "{subject.id} &"},
                "headers": {"Authorization": "Bearer ${TOKEN}", "X-Id": "{context.id}"},
            }
        }
        text = read(tmp_path, definition, environ={"CRM": server.url, "TOKEN": "t0k"})

    sent = server.requests[0]
    assert text == '{"plan": "pro"}'
    assert sent.startswith("GET /a/a%2Fb%3Fc%3Dd%26e%23f?x=1&q=4711+%26 HTTP/1.1\r\n")
    assert "Authorization: Bearer t0k\r\n" in sent
    assert "X-Id: 7\r\n" in sent


def test_a_body_is_json_with_values_in_it(tmp_path: Path) -> None:
    with serving(says("ok")) as server:
        body = {"id": "{context.id}", "text": '{subject.text}"', "list": ["${X}"]}
        definition = {"http": {"url": server.url, "method": "POST", "body": body}}
        read(tmp_path, definition)

    head, _, sent = server.requests[0].partition("\r\n\r\n")
    assert sent == '{"id":7,"text":"The printer <b>burns</b>.\\"","list":["${X}"]}'
    assert "Content-Type: application/json" in head


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ({"url": "{0}/a/{{context.dots}}/b"}, "lead elsewhere"),
        ({"url": "{0}/a/{{context.empty}}"}, "value in the URL is empty"),
        ({"url": "{0}/a/{{context.missing}}"}, "no value 'context.missing'"),
        ({"url": "{0}/", "headers": {"X-A": "a\r\nX-B: c"}}, "no header has"),
        ({"url": "{0}/${{UNSET}}"}, "UNSET is not set"),
    ],
)
def test_a_request_that_would_be_another_one_is_not_made(
    tmp_path: Path, call: dict[str, object], reason: str
) -> None:
    with serving(says("ok")) as server:
        call["url"] = str(call["url"]).format(server.url)
        with pytest.raises(OutboundRefused, match=reason):
            read(tmp_path, {"http": call})

    assert server.requests == []


def test_only_a_success_is_an_answer(tmp_path: Path) -> None:
    with (
        serving(says("hunter2", status="500 Oops")) as server,
        pytest.raises(OutboundError, match="answered with status 500") as caught,
    ):
        read(tmp_path, {"http": {"url": server.url}})

    assert "hunter2" not in str(caught.value)


def test_private_addresses_are_not_reached_unless_an_operator_lists_them(tmp_path: Path) -> None:
    definition = READ.validate_python({"name": "it", "http": {"url": "http://127.0.0.1:1/"}})

    with pytest.raises(OutboundRefused, match=r"outbound\.private_networks"):
        build_source(definition, surroundings(tmp_path)).read(ABOUT, unlimited())


@pytest.fixture
def crm(tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / "crm.db") as connection:
        connection.execute("CREATE TABLE accounts (id INTEGER, name TEXT)")
        connection.executemany("INSERT INTO accounts VALUES (?, ?)", [(7, "Ann"), (8, "Bob")])
    return tmp_path


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        (
            {
                "sql": "SELECT name FROM accounts WHERE id = :id",
                "parameters": {"id": "{context.id}"},
            },
            '{"name":"Ann"}',
        ),
        ({"sql": "SELECT name FROM accounts WHERE id > 99"}, "(no rows)"),
        (
            {"sql": "SELECT id FROM accounts ORDER BY id", "max_rows": 1},
            '{"id":7}\n(there are more rows)',
        ),
        (
            {"sql": "SELECT :all AS all_of_it", "parameters": {"all": "{context.list}"}},
            '{"all_of_it":"[1,\\"a\\"]"}',
        ),
        (
            {"sql": "SELECT :a AS a", "parameters": {"a": "${WHO}-{context.id}"}},
            '{"a":"me-7"}',
        ),
    ],
)
def test_a_database_is_asked_with_bound_values(
    crm: Path, definition: dict[str, object], expected: str
) -> None:
    about = known(context={"id": 7, "list": [1, "a"]})

    text = read(crm, {"database": "crm", **definition}, about=about, environ={"WHO": "me"})

    assert text == expected


def test_a_database_that_the_config_does_not_name_any_more_is_told(crm: Path) -> None:
    with pytest.raises(OutboundError, match="the config declares no database 'gone'"):
        read(crm, {"sql": "SELECT 1", "database": "gone"})


def test_a_program_gets_values_as_single_arguments(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    code = "import os, sys; print(sys.argv[1:], os.getcwd(), os.environ['KEY'], sys.stdin.read())"
    definition = {
        "command": [sys.executable, "-c", code, "{context.path}", "--id={context.id}"],
        "cwd": "there",
        "env": {"KEY": "${SECRET}"},
        "stdin": "{subject.id}",
    }

    text = read(tmp_path, definition, environ={"SECRET": "s3"})

    assert text == f"['a/b?c=d&e#f', '--id=7'] {tmp_path.resolve() / 'there'} s3 4711\n"


def test_a_value_does_not_become_an_option(tmp_path: Path) -> None:
    with pytest.raises(OutboundRefused, match="read as an option"):
        read(tmp_path, {"command": ["ls", "{context.option}"]})

    assert read(tmp_path, {"command": ["echo", "x{context.option}"]}) == "x-rf\n"


def test_a_program_that_fails_gave_nothing(tmp_path: Path) -> None:
    with pytest.raises(OutboundError, match="the program 'false' ended with exit code 1"):
        read(tmp_path, {"command": ["false"]})


def test_a_program_ends_with_its_limit_and_when_nobody_wants_it(tmp_path: Path) -> None:
    flag = never()
    flag.set()

    with pytest.raises(OutboundTimeout):
        read(tmp_path, {"command": ["sleep", "20"]}, limit=Limit(0.2, never(), SystemClock()))
    with pytest.raises(OutboundCancelled):
        read(tmp_path, {"command": ["sleep", "20"]}, limit=Limit(20, flag, SystemClock()))
