"""The help texts of the tools: --help of each executable and of its commands. Reference pages, man pages and completions are
made from them."""
import pathlib
import re
import subprocess

TOOLS = ["drydock", "drydock-capture", "workload-gen", "nccl-record", "simccl", "compute-sim", "gpu-profiler", "exec-engine",
         "collective-perf", "report",
         "drydock-sweep", "drydock-search", "drydock-goodput"]

OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z0-9-]*|-[a-zA-Z](?![\w-]))")


def help_of(*command):
    done = subprocess.run([*map(str, command), "--help"], stdout=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 0, command
    return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())


def offered(text):
    """The names of each option that a help text lists: one line, "  -o,--out FILE  ..."."""
    lines = re.findall(r"^ {1,8}((?:-[\w-]+(?:, ?)?)+)(?= |$)", text, re.M)
    return [OPTION.findall(line) for line in lines]


def takes_value(text, option):
    """Whether a help text shows a value after the option: capitals, or NAME=default."""
    return re.search(rf"^ {{1,8}}(?:-\w, ?)?{re.escape(option)} [A-Z]", text, re.M) is not None


def commands_of(text):
    listed = re.search(r"^Subcommands:\n((?:  .*\n)+)", text + "\n", re.M)
    return [name for name in re.findall(r"^  ([a-z][\w-]*)", listed[1], re.M) if name != "help"] if listed else []


def helps_of(binaries, tool):
    """[(command, help text)] of a tool and its commands."""
    text = help_of(binaries / tool)
    return [(tool, text), *((f"{tool} {command}", help_of(binaries / tool, command)) for command in commands_of(text))]


def all_helps(binaries, optional=("gpu-profiler",)):
    """(tool, [(command, help text)]) of every tool. An optional one may be missing: gpu-profiler is built only if nvcc is there."""
    binaries = pathlib.Path(binaries)
    for tool in TOOLS:
        if tool not in optional or (binaries / tool).exists():
            yield tool, helps_of(binaries, tool)
