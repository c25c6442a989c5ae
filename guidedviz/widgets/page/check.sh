#!/bin/sh
# Checks the page: lint, types, tests, and that the committed bundles are made of these sources.
# Without node this is skipped, except in CI.
set -eu
cd "$(dirname "$0")"
if ! command -v npm > /dev/null; then
  echo "The page's checks need node 20 or newer: they are skipped."
  test -z "${CI:-}"
  exit
fi
if ! test node_modules/.package-lock.json -nt package-lock.json; then npm ci --silent; fi
rm -rf node_modules/.bundles
npm run --silent check
