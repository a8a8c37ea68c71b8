#!/bin/sh
# Write into constraints.txt what pip chooses today for every extra: names and versions only.
#
# Nothing is installed: pip only resolves. Run it with the oldest Python that kit supports, so that
# newer ones find the same versions (PYTHON=python3.11 make constraints), then run the tests.
set -eu

cd -- "$(dirname -- "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
"${PYTHON:-python3}" -m venv "$scratch/venv"
"$scratch/venv/bin/python" -m pip --disable-pip-version-check --no-input -qq install \
    --dry-run --ignore-installed --report "$scratch/report.json" -e '.[cuda,dask,lab,test,lint,docs,bench]'
"$scratch/venv/bin/python" - "$scratch/report.json" >"$scratch/constraints.txt" <<'PYTHON'
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    chosen = [item["metadata"] for item in json.load(file)["install"]]
lines = {
    f"{re.sub(r'[-_.]+', '-', one['name']).lower()}=={one['version']}"
    for one in chosen
    if one["name"] != "pyccel-kit"
}
print("\n".join(sorted(lines)))
PYTHON
mv "$scratch/constraints.txt" constraints.txt
echo "constraints.txt: $(wc -l <constraints.txt) packages; now run make lint test" >&2
