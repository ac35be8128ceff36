"""Goals P1-P7, P9, B1, B2 and S1-S4, measured by replay."""
