// Before JupyterLite's own service worker: what the browser has of a file whose name tells its content is used as it is, also
// where a host lets it ask for each of 160 files again.
const STEADY = /\/(build|extensions)\/[^?]*\.(js|css)|\/static\/pyodide-DIGEST\//;

self.addEventListener("fetch", event => {
  const { method, url } = event.request;
  if (method !== "GET" || new URL(url).origin !== location.origin || !STEADY.test(url)) return;
  event.stopImmediatePropagation();
  event.respondWith(fetch(event.request, { cache: "force-cache" }));
});
importScripts("jupyterlite-service-worker.js");
