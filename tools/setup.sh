#!/bin/sh
# Make .venv hold what the named extras need. Cheap (some 30 ms) where it already does.
#
#   sh tools/setup.sh            the tests, the checks, the tutorials, and what compiles CUDA cells
#   sh tools/setup.sh bench      and the peers of the benchmarks
#   PYTHON=python3.12 sh tools/setup.sh
#
# One stamp file per set of extras is written at the very end, so that an interrupted run never
# counts as done. It holds all that the installation depends on: the two files that name the
# packages, what kit's C modules are compiled from, the place of the checkout (an editable install
# points at it) and Python's version.
set -eu

cd -- "$(dirname -- "$0")/.."
base=test,lint,lab,cuda
extras=$base${1:+,$1}
venv_python=.venv/bin/python
stamp=.venv/.kit-${1:-base}

say() { printf 'kit: %s\n' "$*" >&2; }
stop() {
    printf '\n' >&2
    while [ $# -gt 0 ]; do
        printf '%s\n' "$1" >&2
        shift
    done
    exit 1
}
as_root() { [ "$(id -u)" = 0 ]; }
has_apt() { command -v apt-get >/dev/null 2>&1; }
recent_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }
version_of() { "$1" -c 'import sys; print(sys.version.split()[0])'; }
fingerprint() {
    printf '%s\n' "$extras" "$(pwd)" "$("$venv_python" -c 'import sys; print(sys.version)')"
    cksum pyproject.toml setup.py kit/*.c constraints.txt
}
is_done() { # stamp
    [ -f "$1" ] && [ "$(cat "$1")" = "$(fingerprint 2>/dev/null)" ]
}

apt_install() {
    say "installing $* with apt"
    apt_log=$(mktemp)
    if ! {
        apt-get update -qq &&
            DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
    } >"$apt_log" 2>&1 </dev/null; then
        cat "$apt_log" >&2
        rm -f "$apt_log"
        stop "apt could not install $* (its message is above)."
    fi
    rm -f "$apt_log"
}

conda_lines='    conda env create -f environment.yml       # a machine with an NVIDIA GPU
    conda env create -f environment-cpu.yml   # any other, macOS too
    conda activate kit'

# ---- what pip cannot install: Python, its headers, the compilers ------------------------------

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        recent_enough "$PYTHON" || stop \
            "PYTHON=$PYTHON does not run here, or is older than 3.11." \
            "Name a Python of version 3.11 or newer:" \
            "    make setup PYTHON=/path/to/python3.12"
        return
    fi
    for PYTHON in python3 python3.13 python3.12 python3.11 python3.14; do
        if recent_enough "$PYTHON"; then return; fi
    done
    if as_root && has_apt && ! command -v python3 >/dev/null 2>&1; then
        apt_install python3 python3-venv python3-dev
        PYTHON=python3
        if recent_enough "$PYTHON"; then return; fi
    fi
    found=$(version_of python3 2>/dev/null || echo none)
    stop "kit needs Python 3.11 or newer; found: $found." \
        "On Debian 12, Ubuntu 24.04 or newer, type:" \
        "    sudo apt-get update && sudo apt-get install -y python3 python3-venv python3-dev gcc g++ gfortran" \
        "anywhere else, or on an older release, with conda:" \
        "$conda_lines"
}

find_system_packages() {
    missing=
    packages=
    lacks() { # what it is, its Debian package
        missing="$missing $1"
        packages="$packages $2"
    }
    has() { command -v "$1" >/dev/null 2>&1 || { [ -n "$2" ] && command -v "$2" >/dev/null 2>&1; }; }
    # A conda environment names its compilers in CC, CXX and FC.
    has gcc "${CC:-}" || lacks gcc gcc
    has g++ "${CXX:-}" || lacks g++ g++
    has gfortran "${FC:-}" || lacks gfortran gfortran
    # Debian ships venv's pip and Python.h (which every compiled kernel includes) apart from Python.
    "$PYTHON" -c 'import ensurepip, venv' >/dev/null 2>&1 || lacks venv "$(debian_python)-venv"
    "$PYTHON" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' ||
        lacks Python.h "$(debian_python)-dev"
    [ -n "$missing" ] || return 0

    if has_apt && as_root; then
        # shellcheck disable=SC2086 # a list of package names
        apt_install $packages
        return
    fi
    case $(uname -s) in
    Darwin)
        stop "Missing:$missing. Pyccel is built from source and compiles kernels with them; type:" \
            "    xcode-select --install && brew install gcc" \
            "or, with conda:" "$conda_lines"
        ;;
    esac
    if has_apt; then
        stop "Missing:$missing. Pyccel is built from source and compiles kernels with them; type:" \
            "    sudo apt-get update && sudo apt-get install -y$packages" \
            "or, with conda (no root needed):" "$conda_lines"
    fi
    stop "Missing:$missing. Pyccel is built from source and compiles kernels with them." \
        "Install GCC with gfortran and Python's headers with your package manager:" \
        "    Fedora:  sudo dnf install gcc gcc-c++ gcc-gfortran python3-devel" \
        "    Arch:    sudo pacman -S gcc gcc-fortran" \
        "or, with conda (no root needed):" "$conda_lines"
}

debian_python() { # python3.12 for /usr/bin/python3.12
    "$PYTHON" -c 'import sys; print("python%d.%d" % sys.version_info[:2])'
}

# ---- .venv ------------------------------------------------------------------------------------

usable() { # .venv is finished, lies where it was made and has the Python that was asked for
    is_stamped=
    for old in .venv/.kit-*; do
        [ -f "$old" ] && [ "$(sed -n 2p "$old")" = "$(pwd)" ] && is_stamped=yes
    done
    [ -n "$is_stamped" ] && [ -x "$venv_python" ] && "$venv_python" -c '' 2>/dev/null || return 1
    [ -z "${PYTHON:-}" ] || same_python
}
same_python() {
    [ "$("$PYTHON" -c 'import sys; print(sys.version)' 2>/dev/null)" = \
        "$("$venv_python" -c 'import sys; print(sys.version)')" ]
}

pip() { # -qq: only errors; the index and its warnings are of no interest to who runs this
    "$venv_python" -m pip --disable-pip-version-check --no-input -qq "$@"
}

if { [ -z "${PYTHON:-}" ] || { [ -x "$venv_python" ] && same_python; }; } && is_done "$stamp"; then
    exit 0
fi

if ! usable; then
    find_python
    find_system_packages
    say "making .venv with Python $(version_of "$PYTHON")"
    "$PYTHON" -m venv --clear .venv
else
    PYTHON=$venv_python
    find_system_packages
fi

say "installing kit and what it needs (${extras}) into .venv; the first time takes a minute or two"
pip install -c constraints.txt -e ".[$extras]" || stop \
    "pip could not install kit (its message is above); nothing is lost, run make setup again." \
    "To see all that pip does:" \
    "    .venv/bin/python -m pip install -c constraints.txt -e '.[$extras]'"
fingerprint >"$stamp.new"
mv "$stamp.new" "$stamp"
say "ready: .venv has Python $(version_of "$venv_python")"
