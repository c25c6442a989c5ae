"""Models, sampling, the loop, the trace. Named `decoding`, for `gv.decode` is the function."""
