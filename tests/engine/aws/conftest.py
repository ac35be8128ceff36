"""The AWS account of these tests: empty before each one."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest
import urllib3

from tests.engine.aws.server import Front, Server


@pytest.fixture(scope="session")
def moto_server() -> Iterator[Server]:
    os.environ["MOTO_EC2_LOAD_DEFAULT_AMIS"] = "false"
    os.environ["MOTO_S3_CUSTOM_ENDPOINTS"] = ""
    from moto.moto_server.werkzeug_app import (
        DomainDispatcherApplication,
        MotoRequestHandler,
        create_backend_app,
    )
    from werkzeug.serving import make_server

    front = Front(DomainDispatcherApplication(create_backend_app))
    served = make_server("127.0.0.1", 0, front, threaded=True, request_handler=MotoRequestHandler)
    server = front.server = Server(f"http://127.0.0.1:{served.server_port}")
    thread = threading.Thread(target=served.serve_forever, daemon=True)
    thread.start()
    yield server
    served.shutdown()
    thread.join()
    served.server_close()


@pytest.fixture
def aws(moto_server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """An empty account; AWS_ENDPOINT_URL points at it."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "AWS_ENDPOINT_URL": moto_server.address,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }.items():
        monkeypatch.setenv(name, value)
    moto_server.rules.clear()
    moto_server.seen.clear()
    urllib3.request("POST", f"{moto_server.address}/moto-api/reset")
    moto_server.seen.clear()
    yield moto_server
    moto_server.rules.clear()
