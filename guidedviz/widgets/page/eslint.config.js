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
  "no-eval": "error",
  "no-new-func": "error",
  // what arrives is data: nothing of it is parsed as HTML, SVG or CSS
  "no-restricted-properties": ["error", ...[
    "innerHTML", "outerHTML", "insertAdjacentHTML", "setHTMLUnsafe", "srcdoc", "cssText", "write", "writeln", "parseFromString",
    "createContextualFragment", "insertRule",
  ].map((property) => ({ property }))],
  "no-restricted-syntax": ["error", {
    selector: "CallExpression[callee.property.name=/^(create|set)/][arguments.0.value=/^(style|script|iframe|object|embed|srcdoc|on.*)$/]",
    message: "No style sheet, script, frame or handler is made from what arrives.",
  }, {
    selector: "CallExpression[callee.name=/^(make|shape)$/] > ObjectExpression > Property[key.name=/^(style|src|srcdoc|innerHTML|on.+)$/]",
    message: "Numbers for the style sheet are `vars`; no style, address or handler is written as text.",
  }],
};
const browser = [
  "AbortController", "Blob", "DecompressionStream", "Element", "Event", "HTMLElement", "Image", "IntersectionObserver", "Intl", "MutationObserver", "Node", "Path2D", "ResizeObserver",
  "Response", "TextDecoderStream", "URL", "XMLSerializer", "atob", "cancelAnimationFrame", "clearInterval", "clearTimeout", "document", "fetch", "getComputedStyle", "history",
  "localStorage", "location", "matchMedia", "navigator", "performance", "requestAnimationFrame", "screen", "sessionStorage", "setInterval", "setTimeout", "window",
];
const tests = ["DOMParser", "KeyboardEvent", "MouseEvent", "btoa", "globalThis", "process"];

export default [
  { ignores: ["**/dist/**", "**/node_modules/**"] },
  { files: ["**/*.js"], rules, languageOptions: { globals: Object.fromEntries([...browser, ...tests].map((name) => [name, "readonly"])) } },
  { files: ["**/tests/page/*.js"], rules: { "no-restricted-properties": "off" } },
  { files: ["**/loader.js"], rules: { "no-restricted-syntax": "off" } }, // it adds the style sheet of the package
];
