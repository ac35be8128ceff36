"""A stack of this project on a running lab: the program's own objects, the real controllers, simulated engines."""
