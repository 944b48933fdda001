"""Contributors that are what a server answers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

from runner.context.rendering import as_text, render, render_json
from runner.context.surroundings import Surroundings
from runner.core.contributing import ContributorContext
from runner.core.errors import OutboundError, OutboundRefused
from runner.core.jsonvalue import dump_json
from runner.definitions.context import HttpCall, HttpContext
from runner.definitions.placeholders import Deferred
from runner.outbound.http import Request, fetch
from runner.outbound.limit import Limit

_UNFIT: Final = re.compile(r"[^\x20-\x7e]")


@dataclass(frozen=True, slots=True)
class HttpSource:
    """A request, made whenever it is asked for."""

    call: HttpCall
    surroundings: Surroundings

    def read(self, context: ContributorContext, limit: Limit) -> str:
        request = self._request(context)
        answer = fetch(request, reach=self.surroundings.reach, limit=limit)
        if not answer.is_success:
            raise OutboundError(f"the server answered with status {answer.status}")
        return answer.text

    def _request(self, context: ContributorContext) -> Request:
        call = self.call
        headers = self._rendered(call.headers, context)
        for name, value in headers.items():
            if _UNFIT.search(value):
                raise OutboundRefused(f"the header {name!r} has a character that no header has")
        body = None
        if call.body is not None:
            body = dump_json(render_json(call.body, context)).encode()
            headers = {"Content-Type": "application/json", **headers}
        return Request(
            url=self._url(context),
            method=call.method,
            headers=headers,
            body=body,
            max_bytes=call.max_bytes,
            max_redirects=call.max_redirects,
        )

    def _url(self, context: ContributorContext) -> str:
        environ = self.surroundings.environ
        url = render(str(self.call.url), context, environ=environ, encode=_segment)
        if not {".", ".."}.isdisjoint(urlsplit(url).path.split("/")):
            raise OutboundRefused("the URL's path would lead elsewhere than it says")
        query = urlencode(self._rendered(self.call.query, context))
        url = url.partition("#")[0]
        return f"{url}{'&' if '?' in url else '?'}{query}" if query else url

    def _rendered(
        self, templates: Mapping[str, Deferred], context: ContributorContext
    ) -> dict[str, str]:
        environ = self.surroundings.environ
        return {
            name: as_text(render(str(template), context, environ=environ))
            for name, template in templates.items()
        }


def build(definition: HttpContext, surroundings: Surroundings) -> HttpSource:
    return HttpSource(definition.http, surroundings)


def _segment(value: str) -> str:
    """Escape a value so that it stays one piece of the URL."""
    if not value:
        raise OutboundRefused("a value in the URL is empty")
    return quote(value, safe="", errors="replace")
