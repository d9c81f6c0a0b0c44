"""A small Drydock in a temporary folder: the real commands and set-up scripts with fakes of the programs that they call.

FAKES holds a shell script for each replaced program. Every call is written to calls.txt, so the tests see in seconds and
without a network what the commands would do on a new machine.
"""

import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ["workload-gen", "simccl", "compute-sim", "exec-engine", "report"]
DRYDOCK = None  # the real program; it runs the fakes of the tools

# Each fake knows $box (the folder). A test puts files into $box/world to change the behavior of a fake.
FAKES = {
    "dpkg-query": 'for p in "${@:4}"; do grep -qsx "$p" "$box/world/missing" || echo "installed $p"; done',
    "dpkg": ":",
    "sudo": 'while [[ $1 == -* ]]; do shift; done; exec "$@"',
    "apt-get": """
      config=''
      while (($#)); do
        case $1 in -y) shift;; -o) shift 2;; -c) config=$2; shift 2;; *) break;; esac
      done
      case $1 in
        indextargets) cat "$box/world/targets" 2>/dev/null;;
        install)
          for p; do
            if grep -qsx "$p" "$box/world/unknown"; then echo "E: Unable to locate package $p" >&2; exit 100; fi
          done
          [[ " $* " == *" --simulate "* ]] || cat "$box/world/unknown" >"$box/world/missing" 2>/dev/null || true;;
        update) [[ -z $config ]] || ! grep -q broken "$(dirname "$config")/sources.list" || exit 100;;
        source)
          cat "$(dirname "$config")/sources.list" >>"$box/sources.txt"
          cp "$box/world/mirror"/* . 2>/dev/null || exit 100;;
      esac""",
    "cmake": """
      mkdir -p "$box/build/release"
      echo "CMAKE_HOME_DIRECTORY:INTERNAL=$box" >"$box/build/release/CMakeCache.txt"
      touch "$box/build/release/build.ninja" """,
    "ninja": """
      if [[ $* == *" -n"* ]]; then [[ ! -d $box/build/release/bin ]] || echo "ninja: no work to do."; exit 0; fi
      if [[ -f $box/world/compiler-error ]]; then cat "$box/world/compiler-error"; exit 1; fi
      if [[ -f $box/world/slow-build ]]; then sleep 30 & echo $! >"$box/world/slow-build"; wait; fi
      mkdir -p "$box/build/release/bin"; cp "$box/tool" "$box/drydock-program" "$box/build/release/bin/"
      mv "$box/build/release/bin/drydock-program" "$box/build/release/bin/drydock"
      for t in workload-gen simccl compute-sim exec-engine report; do ln -s tool "$box/build/release/bin/$t"; done""",
    "apt-helper": "exit 100",
    "mpirun": 'while [[ $1 != */* ]]; do shift; done; exec "$@"',
}
BUILD = 'mkdir -p "$(dirname "$2/PRODUCT")"; touch "$2/PRODUCT"'
TOOL = """
  if [[ -f $box/world/slow-stage && $name == "$(<"$box/world/slow-stage")" ]]; then sleep 30; fi
  echo "$name: done" >&2
  for out; do [[ ! -d $out ]] || touch "$out/$name"; done
  [[ ! -f $box/world/exit-$name ]] || exit "$(<"$box/world/exit-$name")" """


def script(box, name, body):
    log = 'printf "%s\\n" "$name $*" >>"$box/calls.txt"'
    return f'#!/bin/bash\nbox="{box}"; name={name}\n{log}\n{body}\n'


class Sandbox:
    def __init__(self, name="a folder"):
        self.user = None
        self.outer = pathlib.Path(tempfile.mkdtemp())
        self.box = self.outer / name
        self.world = self.box / "world"
        self.world.mkdir(parents=True)
        (self.world / "mirror").mkdir()
        (self.world / "targets").write_text("bookworm http://mirror.test/debian\n")
        shutil.copytree(ROOT / "scripts", self.box / "scripts")
        for command in ["run_pipeline.sh", "run_tests.sh", "run_validation.sh"]:
            shutil.copy(ROOT / command, self.box)
        for folder in ["patches/nccl", "simccl/hacknccl", "core/nccl", "third_party"]:
            (self.box / folder).mkdir(parents=True)
        for header in ["hacknccl.h", "rank_schedule.h", "recording.h"]:
            (self.box / "core/nccl" / header).touch()
        (self.box / "core/containers").mkdir()
        (self.box / "core/containers/hash.h").touch()
        self.archives = {}
        for key, file in [("NCCL", "nvidia-nccl_2.29.7-1.orig.tar.gz"), ("NS3", "ns3_3.37.orig.tar.bz2")]:
            self.archives[key] = self.world / "mirror" / file
            self.archives[key].write_text(f"the source of {key}\n")
        self.pin()
        for name, body in FAKES.items():
            self.write(f"fakes/{name}", script(self.box, name, body))
        product = {"nccl": "libhacknccl.so", "ns3": "lib/cmake/ns3/ns3Config.cmake"}
        for name, file in product.items():
            body = BUILD.replace("PRODUCT", file)
            self.write(f"third_party/{name}/build.sh", script(self.box, f"build-{name}", body))
        shutil.copy(DRYDOCK, self.box / "drydock-program")
        pages = self.box / "docs/reference/commands"
        pages.mkdir(parents=True)
        shutil.copy(ROOT / "docs/reference/commands/run-pipeline.md", pages)
        self.write("tool", script(self.box, '$(basename "$0")', TOOL))
        self.write("tests/validation/scoreboard.py", "import sys\nprint(*sys.argv[1:])\n")
        for source in ["korthikanti", "mlperf"]:
            self.write(f"tests/validation/training/{source}.csv", "")
        for file in ["model.yaml", "cluster.topo"]:
            (self.box / file).touch()
        fetch = self.box / "scripts/fetch_source.sh"
        fetch.write_text(fetch.read_text().replace("/usr/lib/apt/apt-helper", "apt-helper"))

    def pin(self):
        """versions.sh as it is, with the hashes of the small archives."""
        text = (ROOT / "third_party/versions.sh").read_text()
        sums = [hashlib.sha256(path.read_bytes()).hexdigest() for path in self.archives.values()]
        remaining = iter(sums)
        text = re.sub(r"(?<=\[sha256\]=)\w+", lambda _: next(remaining), text)
        (self.box / "third_party/versions.sh").write_text(text)
        return sums

    def write(self, name, text):
        path = self.box / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def leave_root(self):
        """Makes all following commands run as an unprivileged user."""
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", "nobody", self.outer], check=True)
            self.user = "nobody"

    def start(self, *command, cwd=None):
        environment = dict(os.environ, PATH=f"{self.box / 'fakes'}:{os.environ['PATH']}")
        return subprocess.Popen(
            [self.box / command[0], *command[1:]], cwd=cwd or self.box, env=environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            user=self.user, start_new_session=True,
            # A test runner may have been started with interrupts ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))

    def run(self, *command, cwd=None):
        """Returns the exit status and the output, with step times as "N s"."""
        process = self.start(*command, cwd=cwd)
        stdout, stderr = process.communicate(timeout=60)
        return process.returncode, stdout, re.sub(r" +\d+ s$", " N s", stderr, flags=re.M)

    def calls(self):
        """Returns the calls since the last query, without calls that only read."""
        file = self.box / "calls.txt"
        lines = file.read_text().splitlines() if file.exists() else []
        file.write_text("")
        return [line for line in lines if not re.match(r"dpkg-query|ninja .* -n|apt-get indextargets", line)]

    def wait_for_call(self, start):
        for _ in range(300):
            file = self.box / "calls.txt"
            lines = file.read_text().splitlines() if file.exists() else []
            if any(line.startswith(start) and " -n" not in line for line in lines):
                return
            time.sleep(0.05)
        raise AssertionError(f"no call of {start}")

    def remove(self):
        shutil.rmtree(self.outer)
