// A small DOM for the tests: `node --import ./test-dom.js ...`. It lays nothing out and paints nothing.

import { Window } from "happy-dom";

const window = new Window({ url: "http://localhost/" });
const names = ["document", "DOMParser", "Element", "Event", "HTMLElement", "KeyboardEvent", "MouseEvent", "MutationObserver", "Node", "getComputedStyle"];
for (const name of names) globalThis[name] = window[name];
globalThis.window = window;
globalThis.matchMedia = () => ({ matches: true }); // less motion
globalThis.frames = []; // callbacks of the next frame, which a test runs itself
globalThis.requestAnimationFrame = (act) => globalThis.frames.push(act);
globalThis.Path2D = class {};

/** Remembers what is observed, so that a test can say what size it has. */
globalThis.ResizeObserver = class {
  constructor(act) {
    this.act = act;
  }

  observe(node) {
    node.resizeTo = (width) => {
      Object.defineProperty(node, "clientWidth", { value: width, configurable: true });
      this.act([{ contentRect: { width } }]);
    };
  }

  disconnect() {}
};

/** A canvas that keeps the texts written on it and forgets all else. */
window.HTMLCanvasElement.prototype.getContext = function getContext() {
  this.texts ??= [];
  return new Proxy({}, {
    get: (pen, name) => {
      if (name === "createImageData") return (width, height) => ({ data: new Uint8ClampedArray(4 * width * height) });
      if (name === "getImageData") return (x, y, width, height) => ({ data: new Uint8ClampedArray(4 * width * height) });
      if (name === "getLineDash") return () => [];
      if (name === "measureText") return (words) => ({ width: 7 * words.length });
      if (name === "clearRect") return () => (this.texts.length = 0);
      if (name === "fillText") return (words) => this.texts.push(words);
      if (name === "fillStyle") return pen.fillStyle ?? "#000000";
      return pen[name] ?? (() => {});
    },
  });
};
