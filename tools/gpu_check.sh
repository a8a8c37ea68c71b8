#!/bin/sh
# Everything that only a GPU can show, in one run of some minutes: the tests that are marked `gpu`,
# and the tutorials with CUDA cells, whose kernels then run there. Says so, and passes nothing,
# where there is no GPU.
set -eu

cd -- "$(dirname -- "$0")/.."
if [ ! -e /dev/nvidiactl ] && [ ! -e /dev/dxg ]; then
    echo "no GPU: nothing was checked"
    exit 0
fi
sh tools/setup.sh cuda
if command -v nvidia-smi >/dev/null 2>&1; then
    nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv,noheader
fi
code=0
.venv/bin/python -m pytest tests -m gpu "$@" || code=$?
if [ "$code" = 5 ]; then
    echo "a GPU, but no test that needs it: nothing was checked"
    exit 0
fi
set --
for one in tutorials/*.ipynb; do
    if grep -q '%%cuda_kernel' "$one"; then
        set -- "$@" "$one"
    fi
done
if [ "$#" != 0 ]; then
    .venv/bin/python -m pytest "$@" || code=$?
fi
exit "$code"
