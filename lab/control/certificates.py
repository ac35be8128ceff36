"""Certificates, keys and tokens of a lab; made once, kept in its folder, good for a year."""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from lab.control import kubernetes

_LIFE = timedelta(days=365)
_RENEW_BEFORE = timedelta(days=7)


@dataclass(frozen=True)
class Certificates:
    """The paths of what ``ensure`` made, all in one folder."""

    folder: Path

    def path(self, name: str) -> Path:
        """A file by its name, such as ``ca.crt``."""
        return self.folder / name

    @property
    def token(self) -> str:
        """The administrator's bearer token."""
        return self.path("token").read_text()


def ensure(folder: Path) -> Certificates:
    """Makes what is absent or about to expire: two authorities, serving certificates, keys, the token."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = Certificates(folder)
    if _is_fresh(made.path("ca.crt")) and made.path("tokens.csv").exists():
        return made
    authority = _authority(made, "ca", "headroom-lab")
    front = _authority(made, "front-proxy-ca", "headroom-lab-front-proxy")
    _leaf(made, "apiserver", "kube-apiserver", authority, ["localhost", "kubernetes.default.svc"])
    _leaf(made, "front-proxy", "front-proxy-client", front, [])
    # KEDA wants the names ca.crt, tls.crt and tls.key in one folder. The aggregator asks for the Service's name.
    keda = Certificates(folder / "keda")
    keda.folder.mkdir(exist_ok=True, mode=0o700)
    _write(keda.path("ca.crt"), made.path("ca.crt").read_bytes())
    services = (f"keda-{name}.{kubernetes.NAMESPACE}.svc" for name in ("metrics-apiserver", "operator"))
    names = ["localhost", *services]
    _leaf(keda, "tls", "keda", authority, names)
    service_account = ec.generate_private_key(ec.SECP256R1())
    _write(made.path("service-account.key"), _key_bytes(service_account))
    public = service_account.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    _write(made.path("service-account.pub"), public)
    token = secrets.token_urlsafe(32)
    _write(made.path("token"), token.encode())
    _write(made.path("tokens.csv"), f"{token},headroom-lab,headroom-lab,system:masters\n".encode())
    return made


@dataclass(frozen=True)
class _Authority:
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


def _is_fresh(path: Path) -> bool:
    if not path.exists():
        return False
    certificate = x509.load_pem_x509_certificate(path.read_bytes())
    return certificate.not_valid_after_utc - datetime.now(UTC) > _RENEW_BEFORE


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _builder(subject: str, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + _LIFE)
    )


def _authority(made: Certificates, name: str, common: str) -> _Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    certificate = (
        _builder(common, _name(common), key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(usage, critical=True)
        .sign(key, hashes.SHA256())
    )
    _write(made.path(f"{name}.crt"), certificate.public_bytes(serialization.Encoding.PEM))
    return _Authority(certificate, key)


def _leaf(made: Certificates, name: str, common: str, authority: _Authority, hosts: list[str]) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    purposes = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    builder = (
        _builder(common, authority.certificate.subject, key)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key()), critical=False
        )
    )
    if hosts:
        alternatives: list[x509.GeneralName] = [x509.DNSName(host) for host in hosts]
        alternatives.append(x509.IPAddress(ip_address("127.0.0.1")))
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    certificate = builder.sign(authority.key, hashes.SHA256())
    _write(made.path(f"{name}.crt"), certificate.public_bytes(serialization.Encoding.PEM))
    _write(made.path(f"{name}.key"), _key_bytes(key))


def _key_bytes(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    path.chmod(0o600)
