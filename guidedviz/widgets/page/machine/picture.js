// A picture of the stack, scrolled inside its panel: it opens at the newest place, and a line says how much is out of sight.

/** @import { Shapes } from "../types.js" */
import { make, setText, withCommas } from "../shared/elements.js";
import { draw } from "../shared/shapes.js";

/** @typedef {ReturnType<typeof buildPicture>} Picture */

/** @type {Record<string, string>} */
const SIDES = { left: "to the left", right: "to the right", top: "above", bottom: "below" };
const SLACK = 2; // pixels that count as the edge

export function buildPicture() {
  const view = make("div", { class: "gv-stack-picture", role: "group", tabindex: 0, "aria-label": "picture of the stack" });
  const more = make("p", { class: "gv-stack-more gv-soft" });
  const picture = { node: make("div", { class: "gv-stack-pictures", hidden: true }, view, more), view, more, drawing: /** @type {SVGElement | null} */ (null) };
  let asked = 0;
  const look = () => {
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(() => sayMore(picture));
  };
  view.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(view);
  return picture;
}

/**
 * @param {Picture} picture
 * @param {string} name
 * @param {Shapes | string} drawn a drawing, or the reason why there is none
 */
export function showPicture(picture, name, drawn) {
  const { view } = picture;
  picture.drawing = Array.isArray(drawn) ? draw(drawn) : null;
  view.setAttribute("aria-label", `picture of the stack: ${name}`);
  view.replaceChildren(picture.drawing ?? make("p", { class: "gv-soft" }, String(drawn)));
  const newest = picture.drawing?.querySelector("[data-newest]")?.getBoundingClientRect();
  const { left, width } = view.getBoundingClientRect();
  // a part that is wider than the panel is read from its left edge
  const x = newest ? view.scrollLeft + newest.left - left - Math.max(8, (width - newest.width) / 2) : view.scrollWidth;
  view.scrollTo(x, name === "tree" ? view.scrollHeight : 0);
  sayMore(picture);
}

/** @param {Picture} picture */
function sayMore({ view, more }) {
  const hidden = {
    left: view.scrollLeft,
    right: view.scrollWidth - view.clientWidth - view.scrollLeft,
    top: view.scrollTop,
    bottom: view.scrollHeight - view.clientHeight - view.scrollTop,
  };
  const sides = Object.entries(hidden).filter(([, pixels]) => pixels > SLACK).map(([side]) => side);
  view.dataset.more = sides.join(" ");
  const counts = countHidden(view);
  const unseen = Number(view.querySelector("[data-before]")?.getAttribute("data-before") ?? 0);
  if (unseen && !sides.includes("left")) sides.push("left");
  setText(more, sides.map((side) => say(counts[side] + (side === "left" ? unseen : 0), counts.name, SIDES[side])).join(" · "));
}

/**
 * How many parts of the picture are wholly out of sight on each side.
 * @param {HTMLElement} view
 * @returns {Record<string, any>}
 */
function countHidden(view) {
  const window = view.getBoundingClientRect();
  /** @type {Record<string, any>} */
  const counts = { left: 0, right: 0, top: 0, bottom: 0, name: "" };
  for (const node of view.querySelectorAll("[data-part]")) {
    const box = node.getBoundingClientRect();
    counts.name = node.getAttribute("data-part");
    if (box.right < window.left + SLACK) counts.left++;
    else if (box.left > window.right - SLACK) counts.right++;
    else if (box.bottom < window.top + SLACK) counts.top++;
    else if (box.top > window.bottom - SLACK) counts.bottom++;
  }
  return counts;
}

/**
 * @param {number} count
 * @param {string} name
 * @param {string} where
 */
function say(count, name, where) {
  return count ? `${withCommas(count)} more ${count === 1 ? name : name.replace(/(x?)$/, (end) => end ? "xes" : "s")} ${where}` : `more ${where}`;
}
