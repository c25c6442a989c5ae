"""One palette for every figure and widget: Okabe and Ito's colours, which colour-blind people tell apart.

A drawing names a colour as `var(--gv-ink)`. In a live notebook the names follow JupyterLab's theme; in a picture that
stands alone they are replaced by the light values. Maps have a sea (legal), land (illegal) and foam (text on the sea).
"""

from __future__ import annotations

import re

LIGHT = {
    "page": "#ffffff",
    "card": "#f6f7f9",
    "line": "#d3d8df",
    "ink": "#1b1f24",
    "soft": "#57606c",
    "blue": "#0072b2",
    "sky": "#56b4e9",
    "orange": "#d55e00",
    "gold": "#b97700",
    "green": "#00795c",
    "on": "#ffffff",
    "sea": "#0072b2",
    "land": "#dde1e7",
    "foam": "#ffffff",
}
DARK = {
    "page": "#16191e",
    "card": "#1d2127",
    "line": "#3a414b",
    "ink": "#eceff3",
    "soft": "#a7b0bc",
    "blue": "#56b4e9",
    "sky": "#2f6f98",
    "orange": "#f5914a",
    "gold": "#f0b53c",
    "green": "#3fcf9f",
    "on": "#0d1014",
    "sea": "#2a6a9c",
    "land": "#2d333c",
    "foam": "#ffffff",
}
LAB = {
    "page": "--jp-layout-color1",
    "ink": "--jp-ui-font-color0",
}
SANS = "var(--jp-ui-font-family, system-ui, sans-serif)"
MONO = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"


def theme_css(scope: str = ".gv") -> str:
    """The palette as CSS variables under a class, light and dark as JupyterLab's theme says.

    >>> "--gv-blue: #0072b2" in theme_css()
    True
    """
    light = _variables({name: _follow(name, colour) for name, colour in LIGHT.items()})
    dark = _variables({name: _follow(name, colour) for name, colour in DARK.items()})
    return f"{scope} {{ {light} }}\n[data-jp-theme-light='false'] {scope} {{ {dark} }}\n"


def stand_alone(svg: str) -> str:
    """The same drawing with every named colour replaced by its light value.

    >>> stand_alone('<path fill="var(--gv-blue)"/>')
    '<path fill="#0072b2"/>'
    """
    return re.sub(r"var\(--gv-(\w+)\)", lambda name: LIGHT[name[1]], svg)


def _follow(name: str, colour: str) -> str:
    return f"var({LAB[name]}, {colour})" if name in LAB else colour


def _variables(colours: dict[str, str]) -> str:
    return " ".join(f"--gv-{name}: {value};" for name, value in colours.items())
