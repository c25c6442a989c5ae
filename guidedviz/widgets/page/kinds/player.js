// Plays recordings in a plain page. It reads each from the page itself when it comes into view, follows the system's
// light or dark theme, and keeps the step of the first one in the address. A page of a site has a theme and addresses
// of its own.
//
// What a notebook brings to the page may imitate a place. The script stands in the head and reads the nonce of the page
// before anything else is there; it plays only what has this nonce, with the widgets that the scripts of the page left.

const nonce = document.currentScript?.dataset.nonce;
const inSite = () => document.body.classList.contains("site");

/** @param {string} text */
async function expand(text) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).json();
}

/** The step that the address asks for. */
function askedStep() {
  const found = /[#&]step=(\d+)/.exec(location.hash);
  return found ? Number(found[1]) : null;
}

/**
 * @param {HTMLElement} place
 * @param {boolean} first whether the address names its step
 */
async function play(place, first) {
  const saved = await expand(place.firstElementChild?.textContent ?? "");
  const kinds = /** @type {any} */ (globalThis).guidedvizKinds;
  const open = (first ? askedStep() : null) ?? Number(place.dataset.open);
  const known = { saved, recorded: true, open, plays: place.dataset.plays !== undefined };
  const answers = place.dataset.again && /** @type {any} */ (globalThis).guidedvizAgain(place, saved); // of a host
  const model = { get: (/** @type {"saved"} */ name) => known[name], on: () => {}, off: () => {}, send: () => {}, ...answers };
  kinds[String(place.dataset.kind)].render({ model, el: place, load: async (/** @type {string} */ name) => kinds[name] });
  const root = /** @type {HTMLElement} */ (place.lastElementChild);
  if (first) keepStep(root);
  if (first || known.plays) root.focus({ preventScroll: true }); // it is what the page is for, and takes its keys
}

/**
 * The still picture beside a place leaves when the recording plays; it stays where the recording is damaged.
 * @param {HTMLElement} place
 * @param {boolean} first
 */
async function replaceStill(place, first) {
  const beside = place.nextElementSibling;
  const still = beside?.matches("figure.gv-still") ? beside : null;
  try {
    await play(place, first);
    still?.remove();
  } catch {
    place.hidden = Boolean(still);
  }
}

/** @param {HTMLElement} root */
function keepStep(root) {
  const keep = () => root.dataset.cursor && history.replaceState(null, "", `#step=${root.dataset.cursor}`);
  new MutationObserver(keep).observe(root, { attributes: true, attributeFilter: ["data-cursor"] });
}

function followTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const set = () => (document.body.dataset.jpThemeLight = String(!dark.matches));
  dark.addEventListener("change", set);
  set();
}

function start() {
  if (!document.body.dataset.jpThemeLight) followTheme(); // else the page has a theme
  const all = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".gv-place"));
  const places = [...all].filter((place) => nonce && place.dataset.nonce === nonce);
  const watcher = new IntersectionObserver((seen) => {
    for (const { target } of seen.filter((one) => one.isIntersecting)) {
      watcher.unobserve(target);
      replaceStill(/** @type {HTMLElement} */ (target), target === places[0] && !inSite());
    }
  }, { rootMargin: "400px" });
  places.forEach((place) => watcher.observe(place));
}

document.addEventListener("DOMContentLoaded", start);
