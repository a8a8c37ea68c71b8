"""Native Windows, as far as it can be played elsewhere: kit imports, and says what to do."""

from __future__ import annotations

import subprocess
import sys

# What Windows lacks of what kit and its imports use; the interpreter underneath stays what it is.
AS_WINDOWS = """
import os, sys
import tempfile  # Python 3.13's shutil asks for Windows' own module
import numpy
import IPython.core.interactiveshell
sys.platform = "win32"
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
for name in ("O_DIRECTORY", "O_NOFOLLOW", "fork", "geteuid", "getpgid", "getuid", "killpg",
             "setsid", "uname"):
    delattr(os, name)
"""


def run_as_windows(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", AS_WINDOWS + code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_public_name_can_be_imported() -> None:
    told = run_as_windows(
        "import kit\n"
        "print(all(getattr(kit, name) is not None for name in kit.__all__))\n"
        "print(kit.inspect_layout(numpy.zeros(3)).order)\n"
    )
    assert told.split() == ["True", "C"]


def test_compiling_names_wsl2() -> None:
    told = run_as_windows(
        "import kit\n"
        "try:\n"
        "    kit.pyccel_kernel('def f(x: float):\\n    return x\\n')\n"
        "except kit.BuildError as error:\n"
        "    print(error)\n"
    )
    assert "native Windows cannot compile kernels" in told
    assert "WSL2" in told


def test_the_extension_loads_and_a_cell_names_wsl2() -> None:
    told = run_as_windows(
        "import tempfile\n"
        "from traitlets.config import Config\n"
        "config = Config()\n"
        "config.HistoryManager.enabled = False\n"
        "config.InteractiveShell.colors = 'nocolor'\n"
        "shell = IPython.core.interactiveshell.InteractiveShell.instance(\n"
        "    config=config, ipython_dir=tempfile.gettempdir())\n"
        "os.environ.pop('KIT_PREWARM')\n"
        "shell.run_cell('%load_ext kit')\n"
        "shell.run_cell('%%pyccel_kernel\\ndef f(x: float):\\n    return x')\n"
    )
    assert "WSL2" in told
    assert "Traceback" not in told
