"""``python -m lab.control.aws PORT PRICES JOURNAL SETTINGS``: serves the account on 127.0.0.1 until it is ended."""

import logging
import os
import sys
import threading
from pathlib import Path
from typing import Any

from lab.control.aws import prices
from lab.control.settings import AwsSettings
from specs.catalogue import catalogue


def main(port: int, table: Path, journal: Path, account: AwsSettings) -> None:
    """Serves, seeds over HTTP like any other client, makes again what an earlier process was asked for, then says that
    it is ready.
    """
    # Read by moto when it is imported: its own AMIs are not those of the aliases, and cost seconds.
    os.environ["MOTO_EC2_LOAD_DEFAULT_AMIS"] = "false"
    from moto.core.models import DEFAULT_ACCOUNT_ID
    from moto.ec2.models import ec2_backends
    from moto.moto_api._internal import mock_random
    from moto.moto_server.werkzeug_app import (
        DomainDispatcherApplication,
        MotoRequestHandler,
        create_backend_app,
    )
    from werkzeug.serving import make_server

    from lab.control.aws.answers import Answers
    from lab.control.aws.journal import Journal
    from lab.control.aws.seed import RANDOM_SEED, seed

    _forget_other_regions(account.region)
    _forget_other_types(frozenset(entry.type for entry in catalogue().types))
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    moto: Any = DomainDispatcherApplication(create_backend_app)
    images = ec2_backends[DEFAULT_ACCOUNT_ID][account.region]
    on_demand = prices.on_demand(table, account.region)
    kept = Journal(journal, account.model_dump_json())
    answers = Answers(moto, on_demand, account.region, account.zones, images, kept)
    server = make_server("127.0.0.1", port, answers, threaded=True, request_handler=MotoRequestHandler)
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    mock_random.seed(RANDOM_SEED)
    seed(f"http://127.0.0.1:{port}", account)
    answers.restore()
    answers.ready = True
    serving.join()


def _forget_other_regions(region: str) -> None:
    """moto holds the offerings of thirty regions, 34 MiB of them not ours."""
    from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS

    for by_region in INSTANCE_TYPE_OFFERINGS.values():
        for other in set(by_region) - {region}:
            del by_region[other]


def _forget_other_types(kept: frozenset[str]) -> None:
    """Leaves the types of the program's own catalogue, those that a GPU pool may ask for.

    Karpenter looks at every type of every node class at each launch, and tells Prometheus of every offering: with
    all 1395 types and four node classes it held 300 MiB and took seconds of a core a launch (2026-12-01).
    """
    from moto.ec2.models.instance_types import (
        INSTANCE_TYPE_OFFERINGS,
        INSTANCE_TYPES,
        InstanceTypeBackend,
    )

    for other in INSTANCE_TYPES.keys() - kept:
        del INSTANCE_TYPES[other]
    # What is described is listed when moto is imported.
    described: Any = InstanceTypeBackend.instance_types
    described[:] = [one for one in described if one["InstanceType"] in kept]
    for by_region in INSTANCE_TYPE_OFFERINGS.values():
        for region, offered in by_region.items():
            by_region[region] = [one for one in offered if one["InstanceType"] in kept]


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), AwsSettings.model_validate_json(sys.argv[4]))
