"""What one replica serves within its SLO, measured."""

from planner.calibrate.result import Calibration, CalibrationError, Step
from planner.calibrate.run import from_load
from planner.calibrate.scrapes import from_scrapes
from planner.calibrate.stackfile import write_capacity

__all__ = ["Calibration", "CalibrationError", "Step", "from_load", "from_scrapes", "write_capacity"]
