"""The certificates of a lab."""

from pathlib import Path

from cryptography import x509
from cryptography.x509.oid import ExtensionOID

from lab.control import certificates


def _names(path: Path) -> list[str]:
    certificate = x509.load_pem_x509_certificate(path.read_bytes())
    found = certificate.extensions.get_extension_for_oid(ExtensionOID.SUBJECT_ALTERNATIVE_NAME).value
    assert isinstance(found, x509.SubjectAlternativeName)
    return [str(name.value) for name in found]


def test_serving_certificates_are_signed_by_the_authority_for_loopback(tmp_path: Path) -> None:
    made = certificates.ensure(tmp_path / "c")
    authority = x509.load_pem_x509_certificate(made.path("ca.crt").read_bytes())
    for leaf in ("apiserver.crt", "keda/tls.crt"):
        x509.load_pem_x509_certificate(made.path(leaf).read_bytes()).verify_directly_issued_by(authority)
        assert "127.0.0.1" in _names(made.path(leaf))
    assert "keda-metrics-apiserver.headroom-lab.svc" in _names(made.path("keda/tls.crt"))


def test_the_front_proxy_has_an_authority_of_its_own(tmp_path: Path) -> None:
    made = certificates.ensure(tmp_path / "c")
    authority = x509.load_pem_x509_certificate(made.path("front-proxy-ca.crt").read_bytes())
    x509.load_pem_x509_certificate(made.path("front-proxy.crt").read_bytes()).verify_directly_issued_by(
        authority
    )
    assert made.path("front-proxy-ca.crt").read_bytes() != made.path("ca.crt").read_bytes()


def test_keys_and_tokens_are_for_their_owner_alone_and_made_once(tmp_path: Path) -> None:
    made = certificates.ensure(tmp_path / "c")
    files = [path for path in made.folder.rglob("*") if path.is_file()]
    assert {path.stat().st_mode & 0o077 for path in files} == {0}
    token = made.token
    assert certificates.ensure(tmp_path / "c").token == token
