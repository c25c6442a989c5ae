// A part of the page is a value, [name, attributes, ...inside], as a drawing is. `change` changes an element, as little as
// it can, until it shows a part. Text enters as text nodes, never as HTML: a vocabulary may contain "<script>".
//
// "on" holds event listeners, "vars" numbers for the style sheet; `true` sets an empty attribute, `false` sets none. Inside
// stand texts, parts, and elements that somebody else paints; null and false leave the place empty, so that what follows
// keeps its element. A name may be a function of its attributes: it is called again only where one of them is another value.

export const SVG = "http://www.w3.org/2000/svg";
const FIELDS = ["value", "given"]; // what stands in an input; `given` only while nobody is using it

/** @typedef {any[]} Part */
/** @typedef {{ attributes: Record<string, any>, by?: Function, of?: Record<string, any> }} Made */

/** @type {WeakMap<EventTarget, Made>} */
const made = new WeakMap();

/** @param {Event} event */
function hear(event) {
  made.get(/** @type {EventTarget} */ (event.currentTarget))?.attributes.on?.[event.type]?.(event);
}

/**
 * @param {any} node
 * @param {string} name
 * @param {any} value
 * @param {any} was
 */
function setAttribute(node, name, value, was) {
  if (name === "on") Object.keys(value).forEach((event) => was?.[event] ?? node.addEventListener(event, hear));
  else if (name === "vars") {
    for (const key in value) if (value[key] !== was?.[key]) node.style.setProperty(key, String(Number(value[key])));
  } else if (FIELDS.includes(name)) {
    if (node.value !== String(value) && (name === "value" || node !== document.activeElement)) node.value = value;
  } else if (value === undefined) node.removeAttribute(name);
  else if (typeof value === "boolean" && !name.includes("-")) node.toggleAttribute(name, value);
  else node.setAttribute(name, value);
}

/**
 * @param {Element} node
 * @param {Record<string, any>} now
 * @param {Record<string, any>} was
 */
function setAttributes(node, now, was) {
  for (const name in was) if (!(name in now)) node.removeAttribute(name);
  for (const name in now) if (now[name] !== was[name] || FIELDS.includes(name)) setAttribute(node, name, now[name], was[name]);
}

/**
 * @param {Record<string, any>} one
 * @param {Record<string, any>} other
 */
function areSame(one, other) {
  for (const name in one) if (one[name] !== other[name]) return false;
  return true;
}

/**
 * The element or text that shows a part: the old one where that can be changed into it.
 * @param {any} old
 * @param {any} part
 * @param {string | null} [space]
 * @returns {any}
 */
export function change(old, part, space = document.documentElement.namespaceURI) {
  if (part instanceof Node) return part;
  if (!Array.isArray(part)) return write(old, part);
  const [name, attributes, ...inside] = part;
  const was = /** @type {Partial<Made>} */ (made.get(old) ?? {});
  if (typeof name === "function") {
    if (was.by === name && areSame(attributes, was.of ?? {})) return old;
    const result = change(old, name(attributes), space);
    made.set(result, { attributes: {}, ...made.get(result), by: name, of: attributes });
    return result;
  }
  const kept = made.has(old) && old.localName === name;
  const node = kept ? old : document.createElementNS(name === "svg" ? SVG : space, name);
  setAttributes(node, attributes, (kept && was.attributes) || {});
  made.set(node, { attributes });
  fill(node, inside);
  return node;
}

/**
 * @param {any} old
 * @param {any} words
 */
function write(old, words) {
  const text = words === null || words === undefined || words === false ? "" : String(words);
  if (old?.nodeType !== Node.TEXT_NODE) return document.createTextNode(text);
  if (old.data !== text) old.data = text;
  return old;
}

/**
 * Puts parts into an element, and nothing else.
 * @param {Element} node
 * @param {any[]} inside
 */
export function fill(node, inside) {
  let at = node.firstChild;
  for (const part of inside) {
    const child = change(at, part, node.namespaceURI);
    if (!at) node.append(child);
    else if (at !== child) at.replaceWith(child);
    at = child.nextSibling;
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

/**
 * A new element that shows a part.
 * @param {Part} part
 * @param {string} [space]
 * @returns {HTMLElement}
 */
export const build = (part, space) => change(null, part, space);
