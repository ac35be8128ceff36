"""Model weights into the bucket, and whether they are all there."""

from planner.staging.errors import StagingError
from planner.staging.progress import ProgressBar
from planner.staging.push import Pushed, push
from planner.staging.source import scan
from planner.staging.verify import Finding, Verified, verify

__all__ = ["Finding", "ProgressBar", "Pushed", "StagingError", "Verified", "push", "scan", "verify"]
