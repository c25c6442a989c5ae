"""One model for a class: `python -m guidedviz host`. README.md has the protocol.

`app.py` is one ASGI application: uvicorn serves it in one process, and Ray Serve in each replica of a cluster.
"""
