"""The events that Karpenter must hear before a node goes."""

from __future__ import annotations

# Messages older than five minutes are about nodes that are gone (Karpenter reference: 300 s).
RETENTION_SECONDS = 300

# Logical name -> EventBridge pattern; all five are needed (Karpenter v1.15 cloudformation reference; the
# capacity reservation warning is the newest).
INTERRUPTIONS: dict[str, dict[str, list[str]]] = {
    "health": {"source": ["aws.health"], "detail-type": ["AWS Health Event"]},
    "spot": {"source": ["aws.ec2"], "detail-type": ["EC2 Spot Instance Interruption Warning"]},
    "rebalance": {"source": ["aws.ec2"], "detail-type": ["EC2 Instance Rebalance Recommendation"]},
    "state": {"source": ["aws.ec2"], "detail-type": ["EC2 Instance State-change Notification"]},
    "reservation": {
        "source": ["aws.ec2"],
        "detail-type": ["EC2 Capacity Reservation Instance Interruption Warning"],
    },
}
