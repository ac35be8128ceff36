"""The router of a router pod."""

from lab.fleet.router import router_words
from tests.unit.lab.fleet.bodies import local, router_args

EVERYWHERE = "0.0.0.0"  # noqa: S104 - what a pod would listen on


def test_a_router_listens_on_its_pods_address_alone() -> None:
    words = router_words(
        ["--host", EVERYWHERE, f"--prometheus-host={EVERYWHERE}", "--port", "8080"], "127.10.0.9"
    )
    assert words == ["--port", "8080", "--host", "127.10.0.9", "--prometheus-host", "127.10.0.9"]


def test_what_the_program_declares_for_its_router_is_kept() -> None:
    settings = local()
    declared = router_args(settings, settings.active_models[0])
    words = router_words(declared, "127.10.0.9")
    assert EVERYWHERE not in words
    assert [word for word in declared if word not in ("--host", "--prometheus-host", EVERYWHERE)] == words[
        :-4
    ]
