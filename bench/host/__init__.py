"""How a host serves a class: latency, faults, and what a larger class needs."""
