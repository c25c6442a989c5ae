// For looks.py: what is painted of each part of a widget; with `given.html`, of a copy that is put into this place first.
(place, given) => {
  const TEXT = ["font-family", "font-size", "font-weight", "text-decoration-line", "opacity"];
  const DRAWN = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
    "paint-order", ...TEXT];
  const PLAIN = ["color", "background-color", "background-image", "border-top-color", "border-top-width", "border-top-style", ...TEXT];
  let root = place;
  if (given.html) {
    document.body.dataset.jpThemeLight = given.light;
    document.documentElement.style.cssText = given.theme;
    place.style.width = `${given.width}px`;
    place.innerHTML = given.html;
    root = place.firstElementChild;
  }
  const inside = [...root.querySelectorAll("*:not(style, title)")];
  // a still drawing takes only its colours from the page; a live widget is all of it ours
  const ours = root.matches(".gv-stage") ? [root, ...inside] : inside.filter((node) => node instanceof SVGElement);
  const parts = ours.map((node) => {
    const style = getComputedStyle(node);
    const names = node instanceof SVGElement ? DRAWN : PLAIN;
    const looks = names.map((name) => `${name}: ${style.getPropertyValue(name)}`);
    return { name: [node.localName, ...node.classList].join("."), seen: node.checkVisibility({ visibilityProperty: true }), looks };
  });
  const asked = getComputedStyle(document.body);
  const set = ["color-scheme", ...given.variables].filter((name) => asked.getPropertyValue(name));
  const theme = set.map((name) => `${name}:${asked.getPropertyValue(name)}`);
  const { width } = root.parentElement.getBoundingClientRect();
  return { html: root.outerHTML, light: document.body.dataset.jpThemeLight, width, theme: theme.join(";"), parts };
}
