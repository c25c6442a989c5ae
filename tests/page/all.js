// All tests of the page in one process, so that the small DOM is loaded once.

import { readdirSync } from "node:fs";

const here = new URL(".", import.meta.url);
for (const name of readdirSync(here)) if (name.endsWith(".test.js")) await import(new URL(name, here));
