// Few rules: unused names, undeclared names, shadowed names, long lines and complex functions.

const rules = {
  "no-unused-vars": "error",
  "no-undef": "error",
  "no-shadow": "error",
  "no-var": "error",
  "prefer-const": ["error", { destructuring: "all" }],
  eqeqeq: "error",
  complexity: ["error", 15],
  "max-lines": ["error", 320],
  "no-restricted-properties": ["error", { property: "innerHTML" }, { property: "outerHTML" }, { property: "insertAdjacentHTML" }],
};
const browser = [
  "Blob", "DOMParser", "DecompressionStream", "Element", "Event", "HTMLElement", "Image", "IntersectionObserver", "Intl", "MutationObserver", "Node", "Path2D", "ResizeObserver",
  "Response", "URL", "XMLSerializer", "atob", "cancelAnimationFrame", "clearInterval", "clearTimeout", "document", "fetch", "getComputedStyle", "history",
  "localStorage", "location", "matchMedia", "navigator", "performance", "requestAnimationFrame", "setInterval", "setTimeout", "window",
];
const tests = ["KeyboardEvent", "MouseEvent", "btoa", "globalThis", "process"];

export default [
  { ignores: ["**/dist/**", "**/node_modules/**"] },
  { files: ["**/*.js"], rules, languageOptions: { globals: Object.fromEntries([...browser, ...tests].map((name) => [name, "readonly"])) } },
];
