"""Ports and pod networks of several labs on one machine."""

import socket
from pathlib import Path

import pytest

from lab.control import ports


@pytest.fixture(autouse=True)
def own_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Claims of this test only."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def _lab(tmp_path: Path, name: str) -> Path:
    (tmp_path / name).mkdir()
    return tmp_path / name


def test_ports_stay_the_same_for_the_same_lab(tmp_path: Path) -> None:
    root = _lab(tmp_path, "a")
    first = ports.choose(root, ["etcd", "apiserver"], {})
    assert ports.choose(root, ["etcd", "apiserver", "kwok"], first).items() >= first.items()


def test_two_labs_share_no_port_even_before_either_listens(tmp_path: Path) -> None:
    names = [f"p{number}" for number in range(40)]
    first = ports.choose(_lab(tmp_path, "a"), names, {})
    second = ports.choose(_lab(tmp_path, "b"), names, {})
    assert not set(first.values()) & set(second.values())


def test_a_port_that_a_stranger_listens_on_is_not_chosen(tmp_path: Path) -> None:
    root = _lab(tmp_path, "a")
    wanted = ports.choose(root, ["etcd"], {})["etcd"]
    ports.release(root)
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", wanted))
        stranger.listen()
        assert ports.choose(root, ["etcd"], {})["etcd"] != wanted


def test_two_labs_have_networks_of_their_own_and_a_gone_lab_gives_its_back(tmp_path: Path) -> None:
    first, second = _lab(tmp_path, "a"), _lab(tmp_path, "b")
    assert ports.pod_network(first) == "127.10.0.0/16" == ports.pod_network(first)
    assert ports.pod_network(second) == "127.11.0.0/16"
    first.rmdir()
    assert ports.pod_network(_lab(tmp_path, "c")) == "127.10.0.0/16"


def test_prometheus_is_where_the_local_stack_expects_it_when_that_port_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = ports.choose(_lab(tmp_path, "probe"), ["etcd"], {})["etcd"]
    ports.release(tmp_path / "probe")
    monkeypatch.setattr(ports, "CUSTOMARY", {"prometheus": free})
    assert ports.choose(_lab(tmp_path, "a"), ["prometheus"], {}) == {"prometheus": free}
    assert ports.choose(_lab(tmp_path, "b"), ["prometheus"], {})["prometheus"] != free
