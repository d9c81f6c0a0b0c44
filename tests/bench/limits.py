"""Shared code of the benchmarks: the cost of a command, lines of limits, and figures for the documents."""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import figures  # noqa: E402

measured = []  # of this call: (name of the line, {"seconds": "1.23 s", "memory": "45 MB"})


def lines_of(script):
    """The lines of limits beside a script: run_NAME_bench.py has NAME.jsonl."""
    path = pathlib.Path(script)
    name = path.stem.removeprefix("run_").removesuffix("_bench") + ".jsonl"
    return [json.loads(line) for line in path.with_name(name).read_text().splitlines()]


def add_record_option(parser):
    parser.add_argument("--record", type=pathlib.Path, metavar="DOCS",
                        help="write what is measured to DOCS/figures and renew the pages that quote it")


def key_of(script, name, what):
    """The figure of one line: "pipeline.175b_on_64_gpus_packet.seconds"."""
    bench = pathlib.Path(script).stem.removeprefix("run_").removesuffix("_bench")
    return f"{bench}.{re.sub('[^a-z0-9]+', '_', name.lower()).strip('_')}.{what}"


def record(options, script):
    """Records the figures if --record is given."""
    if not options.record:
        return
    found = {key_of(script, name, what): text for name, texts in measured for what, text in texts.items()}
    figures.record(options.record, "bench", f"tests/bench/{pathlib.Path(script).name} --record docs", found)
    figures.update(options.record)


def cluster_file(name):
    return ROOT / "configs/clusters" / (name + ".topo")


def cost(command):
    """Wall seconds, CPU seconds (children included) and peak MB of one process."""
    words = [str(word) for word in command]
    start = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    message = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit status {process.returncode}\n{message.decode()}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


# CPU seconds of slowness()'s walk on the machine for which the limits were written: half of what it takes on a machine on
# which the same program takes twice the time of then (all-reduce over 1024 H100: 1.0 s where it took at most 0.5 s).
REFERENCE_SECONDS = 0.17


WALK = """
import random, time
order = list(range(1 << 20))
random.Random(1).shuffle(order)
def walk():
    start, at = time.process_time(), 0
    for _ in range(1_000_000):
        at = order[at]
    return time.process_time() - start
print(min(walk() for _ in range(3)))
"""


def slowness():
    """How many times slower this machine walks through memory now than the one for which the limits were written; at
    least 1. Simulators wait for memory more than for anything else."""
    # In a process of its own: what this one holds would count as the memory of the commands that it starts.
    walked = subprocess.run([sys.executable, "-c", WALK], text=True, capture_output=True, check=True).stdout
    return max(1.0, float(walked) / REFERENCE_SECONDS)


def holds(line, seconds, peak, more=""):
    """Prints the result of a line. Returns False if the line exceeds a limit."""
    measured.append((line["name"], {"seconds": f"{seconds:.3g} s", "memory": f"{peak:.0f} MB"}))
    ok = seconds <= line["max_seconds"] and peak <= line["max_mb"]
    target = f", target {line['target_seconds']}" if "target_seconds" in line else ""
    print(f"{line['name']}: {seconds:.3f} s (limit {line['max_seconds']}{target}), {peak:.0f} MB (limit "
          f"{line['max_mb']}) {'ok' if ok else 'TOO MUCH'}{more and f' [{more}]'}", flush=True)
    return ok
