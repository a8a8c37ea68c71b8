#!/bin/sh
# See to a Chromium for the browser tests: Debian's own, never a downloaded build.
# Where it cannot be had, the tests skip and say why.
set -eu

cd -- "$(dirname -- "$0")/.."
for name in "${KIT_CHROMIUM:-}" chromium chromium-browser google-chrome; do
    if [ -n "$name" ] && command -v "$name" >/dev/null 2>&1; then exit 0; fi
done
set -- tests/browser/test_*.py
[ -f "$1" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "kit: installing chromium with apt, for the browser tests" >&2
    if apt-get update -qq &&
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; then
        exit 0
    fi
fi
echo "kit: no Chromium here, so the browser tests will skip (sudo apt-get install -y chromium)" >&2
