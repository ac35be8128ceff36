"""Asks a component whether it is well."""

import ssl
import urllib.error
import urllib.request

from lab.control.component import Health

_ONE_TRY_SECONDS = 2.0


def is_well(health: Health) -> bool:
    """Whether the URL answers 200 now."""
    request = urllib.request.Request(health.url)  # noqa: S310 - the URL is our own, http or https on loopback
    if health.token is not None:
        request.add_header("Authorization", f"Bearer {health.token.read_text()}")
    try:
        with _opener(health).open(request, timeout=_ONE_TRY_SECONDS) as answer:
            return answer.status == 200
    except (OSError, urllib.error.URLError, ValueError):
        return False


def _opener(health: Health) -> urllib.request.OpenerDirector:
    # No proxy: everything asked is on loopback.
    handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
    if health.url.startswith("https:"):
        context = ssl.create_default_context(cafile=str(health.ca) if health.ca else None)
        if health.ca is None:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        handlers.append(urllib.request.HTTPSHandler(context=context))
    return urllib.request.build_opener(*handlers)
