"""The cells of one kind as a stencil: a rectangle of its colour behind a mask, which is a PNG with one bit per cell."""

import base64
import struct
import zlib

import numpy as np
import numpy.typing as npt

from guidedviz.markup import Element, node
from guidedviz.views.vocabulary.atlas import Atlas
from guidedviz.views.vocabulary.kinds import Kind


def write_stencil(made: Atlas, kind: Kind) -> Element:
    """The cells of one kind: a rectangle of its colour behind a mask."""
    png = write_png(made.grid(kind.cells).astype(np.bool_))
    name = f"gv-{zlib.crc32(png):08x}"
    size = {"width": made.width, "height": made.height}
    address = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    image = node("image", href=address, **size, image_rendering="pixelated")
    hole = node("mask", image, id=name, maskUnits="userSpaceOnUse", x=0, y=0, **size)
    return hole + node("rect", **size, fill=f"var(--gv-{kind.colour})", mask=f"url(#{name})")


def write_png(picture: npt.NDArray[np.bool_]) -> bytes:
    """A PNG with one bit per pixel: white where True.

    >>> write_png(np.eye(2, dtype=bool))[:8]
    b'\\x89PNG\\r\\n\\x1a\\n'
    """
    height, width = picture.shape
    rows = np.packbits(picture, axis=1)
    lines = np.pad(rows, ((0, 0), (1, 0)))  # every line starts with its filter: none
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    data = zlib.compress(lines.tobytes(), 9)
    chunks = [_png_chunk(b"IHDR", head), _png_chunk(b"IDAT", data), _png_chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _png_chunk(name: bytes, data: bytes) -> bytes:
    check = zlib.crc32(name + data)
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)
