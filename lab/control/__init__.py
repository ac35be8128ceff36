"""The control plane of the lab: real controllers as processes on loopback, in one folder.

``plane`` has ``up``, ``attach`` and ``down``; ``report`` the status; ``single`` one component at a time;
``parts.registry`` the groups of components. Nothing is imported here, since two components are Python processes
of this package.
"""
