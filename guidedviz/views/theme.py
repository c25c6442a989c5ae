"""One palette for every figure and widget: Okabe and Ito's colours, which colour-blind people can tell apart, with a
vermilion that is dark enough for text.

A drawing names a colour as `var(--gv-ink)`. In a live notebook these variables follow JupyterLab's theme; in a file
they are replaced by the light values. Maps use sea (legal), land (illegal) and foam (text on the sea).
"""

import re

PALETTE = {  # of light and of dark pages
    "page": ("#ffffff", "#16191e"),
    "card": ("#f6f7f9", "#1d2127"),
    "line": ("#d3d8df", "#3a414b"),
    "ink": ("#1b1f24", "#eceff3"),
    "soft": ("#57606c", "#a7b0bc"),
    "blue": ("#0072b2", "#56b4e9"),
    "sky": ("#56b4e9", "#2f6f98"),
    "orange": ("#b84f00", "#f5914a"),  # here and now
    "magenta": ("#8a0e57", "#ff4d94"),  # forbidden
    "gold": ("#b97700", "#f0b53c"),
    "green": ("#00795c", "#3fcf9f"),
    "on": ("#ffffff", "#0d1014"),
    "sea": ("#0072b2", "#3079b0"),
    "land": ("#dde1e7", "#22272f"),
    "foam": ("#ffffff", "#ffffff"),
}
LIGHT = {name: light for name, (light, _) in PALETTE.items()}
DARK = {name: dark for name, (_, dark) in PALETTE.items()}
FORCED_COLOURS = {  # the colours of a person's system: one for all meanings, which shapes and widths tell apart
    **dict.fromkeys(("page", "card", "on"), "Canvas"),
    **dict.fromkeys(("line", "ink", "soft"), "CanvasText"),
    **dict.fromkeys(("blue", "sky", "orange", "magenta", "gold", "green"), "LinkText"),
}
LAB_VARIABLES = {"page": "--jp-layout-color1", "ink": "--jp-ui-font-color0"}
SANS = "var(--jp-ui-font-family, system-ui, sans-serif)"
VARIABLE = re.compile(r"var\((--[\w-]+)(?:,\s*([^()]*))?\)")  # without another one inside
NESTED_VARIABLES = 3  # of variables inside variables
MONO = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"


def paint(colour: str) -> str:
    """A colour of the palette by its name, as a drawing names it.

    >>> paint("blue")
    'var(--gv-blue)'
    """
    return f"var(--gv-{colour})"


def theme_css(scope: str = ".gv") -> str:
    """The palette as CSS variables of a class, for JupyterLab's light and dark themes and for forced colours.

    >>> "--gv-blue: #0072b2" in theme_css()
    True
    """
    light = _following(LIGHT)
    dark = _following(DARK)
    night = f"[data-jp-theme-light='false'] {scope}"
    own = f"{scope} .gv-map-all {{ {_variables(LIGHT)} }}"  # the colours of a map are its meaning
    forced = f"@media (forced-colors: active) {{ {scope}, {night} {{ {_variables(FORCED_COLOURS)} }} {own} }}"
    return f"{scope} {{ {light} }}\n{night} {{ {dark} }}\n{forced}\n"


def stand_alone(svg: str) -> str:
    """The same drawing with every CSS variable replaced by its light value, for files and pictures.

    >>> stand_alone('<path fill="var(--gv-blue)" stroke="var(--unknown, var(--gv-ink))"/>')
    '<path fill="#0072b2" stroke="#1b1f24"/>'
    """
    values = {f"--gv-{name}": colour for name, colour in LIGHT.items()}
    for name, value in re.findall(r"[^(](--[\w-]+):([^;\"}]+)", svg):
        values[name] = value.strip()
    for _ in range(NESTED_VARIABLES):
        svg = VARIABLE.sub(lambda found: values.get(found[1], found[2] or "none"), svg)
    return svg


def _following(colours: dict[str, str]) -> str:
    """The variables, of which some follow JupyterLab's theme."""
    led = {name: f"var({leader}, {colours[name]})" for name, leader in LAB_VARIABLES.items()}
    return _variables(colours | led)


def _variables(colours: dict[str, str]) -> str:
    return " ".join(f"--gv-{name}: {value};" for name, value in colours.items())
