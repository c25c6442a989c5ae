// A part of the page is a value, as a drawing is: ["p.class.class", attributes, ...inside], or without attributes. `change`
// changes an element, as little as it can, until it shows a part. Text enters as text nodes, never as HTML: a vocabulary
// may contain "<script>".
//
// A function listens to the event of its name, "vars" are numbers for the style sheet; `true` sets an empty attribute, `false`
// sets none. Inside stand texts, parts, and elements that somebody else paints; null and false leave the place empty, so that what follows
// keeps its element. A name may be a function of its attributes: it is called again only where one of them is another value.

export const SVG = "http://www.w3.org/2000/svg";
const FIELDS = ["value", "given"]; // what stands in an input; `given` only while nobody is using it

/** @typedef {any[]} Part */

/** @type {WeakMap<any, Record<string, any>>} the attributes of an element, and what function made it of what */
const made = new WeakMap();

/** @param {Event} event */
function hear(event) {
  made.get(event.currentTarget)?.now[event.type]?.(event);
}

/**
 * @param {any} node
 * @param {string} name
 * @param {any} value
 * @param {any} was
 */
function setAttribute(node, name, value, was) {
  if (typeof value === "function") node.addEventListener(name, hear); // once: the same listener is not added again
  else if (name === "vars") {
    for (const key in value) if (value[key] !== was?.[key]) node.style.setProperty(key, String(Number(value[key])));
  } else if (FIELDS.includes(name)) {
    if (node.value !== String(value) && (name === "value" || node !== document.activeElement)) node.value = value;
  } else if (value === undefined) node.removeAttribute(name);
  else if (typeof value === "boolean" && !name.includes("-")) node.toggleAttribute(name, value);
  else node.setAttribute(name, value);
}

/**
 * @param {Record<string, any>} one
 * @param {Record<string, any>} other
 */
function areSame(one, other) {
  return Object.keys(one).every((name) => one[name] === other[name]);
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
  const [name, ...inside] = part;
  const attributes = inside[0]?.constructor === Object ? inside.shift() : {};
  if (typeof name === "string") return mend(old, name.split("."), attributes, inside, space);
  const was = made.get(old);
  if (was && was.by === name && areSame(attributes, was.of)) return old;
  const node = change(old, name(attributes), space);
  made.set(node, { ...made.get(node), by: name, of: attributes });
  return node;
}

/**
 * @param {any} old
 * @param {string[]} name
 * @param {Record<string, any>} given
 * @param {any[]} inside
 * @param {string | null} space
 */
function mend(old, [tag, ...classes], given, inside, space) {
  const kept = old?.localName === tag ? made.get(old) : undefined;
  const node = kept ? old : document.createElementNS(tag === "svg" ? SVG : space, tag);
  /** @type {Record<string, any>} */
  const now = { ...(classes[0] && { class: classes.join(" ") }), ...(tag === "button" && { type: tag }), ...given };
  const was = kept?.now ?? {};
  made.set(node, { now });
  for (const key in was) if (!(key in now)) node.removeAttribute(key);
  fill(node, inside); // first: the value of a list is one of its options
  for (const key in now) if (now[key] !== was[key] || FIELDS.includes(key)) setAttribute(node, key, now[key], was[key]);
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
