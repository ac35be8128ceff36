"""Queues, events, logs, alarms and topics."""

from lab.cloud.asked import ACCOUNT, Asked
from lab.cloud.aws.kind import Kind, Naming, by
from lab.cloud.wire import Properties


def _url(asked: Asked) -> str:
    return f"https://sqs.{asked.region}.amazonaws.com/{ACCOUNT}/{asked.text('name')}"


def _queue(asked: Asked, identity: str) -> Properties:
    return {
        "arn": asked.arn("sqs", asked.text("name")),
        "url": identity,
        "delaySeconds": 0,
        "messageRetentionSeconds": 345600,
        "visibilityTimeoutSeconds": 30,
        "maxMessageSize": 262144,
        "fifoQueue": False,
    }


def _target(asked: Asked) -> str:
    target = asked.text("targetId") or f"{asked.name}-{asked.hex(7)}"
    return f"{asked.text('rule')}-{target}"


KINDS: dict[str, Kind] = {
    "aws:sqs/queue:Queue": Kind(
        identity=_url, adds=_queue, forced="name namePrefix fifoQueue", naming=Naming(key="name", limit=80)
    ),
    "aws:sqs/queuePolicy:QueuePolicy": Kind(identity=by("queueUrl"), forced="queueUrl", tagged=False),
    "aws:cloudwatch/eventRule:EventRule": Kind(
        identity=by("name"),
        adds=lambda asked, identity: {"arn": asked.arn("events", f"rule/{identity}"), "state": "ENABLED"},
        forced="name namePrefix eventBusName",
        naming=Naming(key="name", limit=64),
    ),
    "aws:cloudwatch/eventTarget:EventTarget": Kind(
        identity=_target,
        adds=lambda asked, identity: {"targetId": identity.removeprefix(f"{asked.text('rule')}-")},
        forced="rule targetId eventBusName",
        tagged=False,
    ),
    "aws:cloudwatch/logGroup:LogGroup": Kind(
        identity=by("name"),
        adds=lambda asked, identity: {
            "arn": asked.arn("logs", f"log-group:{identity}"),
            "logGroupClass": "STANDARD",
        },
        forced="name namePrefix logGroupClass",
        naming=Naming(key="name", limit=512),
    ),
    "aws:cloudwatch/metricAlarm:MetricAlarm": Kind(
        identity=by("name"),
        adds=lambda asked, identity: {"arn": asked.arn("cloudwatch", f"alarm:{identity}")},
        forced="name",
        naming=Naming(key="name", limit=255),
    ),
    "aws:sns/topic:Topic": Kind(
        identity=lambda asked: asked.arn("sns", asked.text("name")),
        adds=lambda asked, identity: {"arn": identity, "owner": ACCOUNT},  # noqa: ARG005
        forced="name namePrefix fifoTopic",
        naming=Naming(key="name", limit=256),
    ),
    "aws:sns/topicPolicy:TopicPolicy": Kind(
        identity=by("arn"),
        adds=lambda asked, identity: {"owner": ACCOUNT},  # noqa: ARG005
        forced="arn",
        tagged=False,
    ),
    "aws:sns/topicSubscription:TopicSubscription": Kind(
        identity=lambda asked: f"{asked.text('topic')}:{asked.hex(32)}",
        adds=lambda asked, identity: {  # noqa: ARG005
            "arn": identity,
            "ownerId": ACCOUNT,
            "confirmationWasAuthenticated": True,
            "pendingConfirmation": False,
        },
        forced="topic protocol endpoint",
        tagged=False,
    ),
    "aws:budgets/budget:Budget": Kind(
        identity=lambda asked: f"{ACCOUNT}:{asked.text('name')}",
        adds=lambda asked, identity: {  # noqa: ARG005
            "arn": asked.arn("budgets", f"budget/{asked.text('name')}", regional=False),
            "accountId": ACCOUNT,
        },
        forced="name namePrefix accountId",
        naming=Naming(key="name", limit=100),
    ),
    "aws:amp/workspace:Workspace": Kind(
        identity=lambda asked: f"ws-{asked.hex(36)}",
        adds=lambda asked, identity: {
            "arn": asked.arn("aps", f"workspace/{identity}"),
            "prometheusEndpoint": f"https://aps-workspaces.{asked.region}.amazonaws.com/workspaces/{identity}/",
        },
        forced="kmsKeyArn",
    ),
}
