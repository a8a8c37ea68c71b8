#!/bin/sh
# Run the tests that need a GPU; say so, and pass nothing, where there is none.
set -eu

cd -- "$(dirname -- "$0")/.."
if [ ! -e /dev/nvidiactl ] && [ ! -e /dev/dxg ]; then
    echo "no GPU: nothing was checked"
    exit 0
fi
sh tools/setup.sh cuda
code=0
.venv/bin/python -m pytest tests -m gpu "$@" || code=$?
if [ "$code" = 5 ]; then
    echo "a GPU, but no test that needs it: nothing was checked"
    exit 0
fi
exit "$code"
