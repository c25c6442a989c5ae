// Plays recordings in a plain page. It reads each from the page itself when it comes into view, follows the system's
// light or dark theme, and keeps the step of the first one in the address. A page of a site has a theme and addresses
// of its own.

const inSite = document.body.classList.contains("site");

/** @param {string} text */
async function expand(text) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).json();
}

/** @type {Map<string, Promise<any>>} */
const kinds = new Map();

/** @param {string} kind */
function load(kind) {
  if (!kinds.has(kind)) {
    const code = document.querySelector(`script[data-code="${kind}"]`)?.textContent ?? "";
    kinds.set(kind, import(URL.createObjectURL(new Blob([code], { type: "text/javascript" }))));
  }
  return kinds.get(kind);
}

/** The step that the address asks for. */
function askedStep() {
  const found = /[#&]step=(\d+)/.exec(location.hash);
  return found ? Number(found[1]) : null;
}

/**
 * @param {HTMLElement} place
 * @param {boolean} first
 */
async function play(place, first) {
  const saved = await expand(place.firstElementChild?.textContent ?? "");
  const { default: widget } = await load(String(place.dataset.kind));
  const open = (first && !inSite ? askedStep() : null) ?? Number(place.dataset.open);
  const known = { saved, recorded: true, open, plays: place.dataset.plays !== undefined };
  const model = { get: (/** @type {"saved"} */ name) => known[name], on: () => {}, off: () => {}, send: () => {} };
  widget.render({ model, el: place });
  if (first && !inSite) keepStep(/** @type {HTMLElement} */ (place.lastElementChild));
}

/** @param {HTMLElement} root */
function keepStep(root) {
  const keep = () => root.dataset.cursor && history.replaceState(null, "", `#step=${root.dataset.cursor}`);
  new MutationObserver(keep).observe(root, { attributes: true, attributeFilter: ["data-cursor"] });
  root.focus({ preventScroll: true });
}

function followTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const set = () => (document.body.dataset.jpThemeLight = String(!dark.matches));
  dark.addEventListener("change", set);
  set();
}

if (!document.body.dataset.jpThemeLight) followTheme(); // else the page has a theme
const places = [...document.querySelectorAll(".gv-place")];
const watcher = new IntersectionObserver((all) => {
  for (const { target } of all.filter((one) => one.isIntersecting)) {
    watcher.unobserve(target);
    play(/** @type {HTMLElement} */ (target), target === places[0]);
  }
}, { rootMargin: "400px" });
places.forEach((place) => watcher.observe(place));
