// Bundles each kind of widget, and the teacher's page, into one script and one style sheet: `node build.js [folder]`,
// by default into dist/.
// The bundles are committed, so that nobody who uses guidedviz needs node. A bundle is a classic script that keeps its
// widget in `guidedvizKind`: the loader in JupyterLab reads it as a module, a page without a kernel as it is.

import { readdirSync } from "node:fs";
import { dirname, join, parse } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const outdir = process.argv[2] ?? join(here, "dist");
/** @param {string} folder */
const filesIn = (folder) => readdirSync(join(here, folder)).map((name) => ({ in: join(here, folder, name), out: parse(name).name }));
const map = { in: join(here, "map", "map-panel.js"), out: "map" }; // a stage loads it when its map is opened first
const entryPoints = [...filesIn("kinds"), ...filesIn("sheets"), ...filesIn("class"), map];

await build({
  entryPoints, outdir, loader: { ".html": "copy" }, bundle: true, minify: true, format: "iife", globalName: "guidedvizKind", target: "es2022", charset: "utf8", legalComments: "none", logLevel: "warning",
});
