// Bundles each kind of widget, and the teacher's page, into one script and one style sheet: `node build.js [folder]`,
// by default into dist/.
// The bundles are committed, so that nobody who uses guidedviz needs node. A bundle is a classic script that keeps its
// widget in `guidedvizKind`: the loader in JupyterLab reads it as a module, a page without a kernel as it is.

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, parse } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const outdir = process.argv[2] ?? join(here, "dist");
/** @param {string} folder */
const filesIn = (folder) => readdirSync(join(here, folder)).map((name) => ({ in: join(here, folder, name), out: parse(name).name }));
const late = { map: "map/map-panel.js", learning: "stage/learning.js" }; // a stage loads them when they are needed first
const loadedLate = Object.entries(late).map(([out, path]) => ({ in: join(here, path), out }));
const entryPoints = [...filesIn("kinds"), ...filesIn("sheets"), ...filesIn("class"), ...filesIn("deck"), ...loadedLate];

/**
 * A module as a classic script, without what a module of a library would need.
 * @param {string} code
 */
function asScript(code) {
  const [exported, names = ""] = /export\{([^}]*)\};\s*$/.exec(code) ?? [""];
  const [, kind] = /([\w$]+) as default/.exec(names) ?? [];
  const inside = exported ? code.slice(0, -exported.length) : code;
  return kind ? `"use strict";var guidedvizKind=(()=>{${inside}return{default:${kind}}})();\n` : `"use strict";(()=>{${inside}})();\n`;
}

const { outputFiles } = await build({
  entryPoints, outdir, write: false, loader: { ".html": "copy" }, bundle: true, minify: true, format: "esm", target: "es2022", charset: "utf8", legalComments: "none", logLevel: "warning",
});
mkdirSync(outdir, { recursive: true });
for (const { path, text, contents } of outputFiles) writeFileSync(path, path.endsWith(".js") ? asScript(text) : contents);
