"""Compares what a framework asks of a GPU with what workload-gen says that it asks.

Usage: oracle.py BIN --libraries FOLDER --python PYTHON [--cache FOLDER] [CASE ...]

A case is a model file of the folder models. Its first lines say which program of this folder is the same model:

    # program: megatron_core.py tensor=2 pipeline=2
    # ranks: 0 4 of 8

For each of these ranks, one iteration of the program is compared with the program that workload-gen writes: the calls of each
communicator in order (kind, bytes, type, operation), and the products (extents, type, number).
"""
import argparse
import collections
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
HERE = pathlib.Path(__file__).resolve().parent
CLUSTER = ROOT / "configs/clusters/eos.topo"
ITERATION = 2

FUNCTIONS = ["all-reduce", "all-gather", "reduce-scatter", "broadcast", "reduce", "all-to-all", "gather", "scatter", "send", "recv"]
NCCL_TYPES = ["int8", "uint8", "int32", "uint32", "int64", "uint64", "fp16", "fp32", "fp64", "bf16", "fp8", "fp8-e5m2"]
SIZES = {"int8": 1, "uint8": 1, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8, "fp16": 2, "fp32": 4, "fp64": 8, "bf16": 2,
         "fp8": 1, "fp8-e5m2": 1}
OPERATIONS = ["sum", "prod", "max", "min", "average", "scaled"]
CUDA_TYPES = {0: "fp32", 1: "fp64", 2: "fp16", 14: "bf16", 28: "fp8"}
PARTED = ("all-gather", "reduce-scatter", "all-to-all")


class Rank:
    """What one rank does in an iteration."""

    def __init__(self):
        self.calls = collections.defaultdict(list)  # by ranks
        self.products = collections.Counter()
        self.alone = 0  # calls of groups of one rank, which workload-gen omits


def fields(line):
    return dict(word.split("=", 1) for word in line.split()[2:] if "=" in word)


def iteration_of(lines, number):
    """The lines between the beginning and the end of a range."""
    depth, inside, thread = 0, [], None
    for line in lines:
        words = line.split(None, 2)
        if words[1] == "begin-op":
            if thread is None and line.endswith(f"op=scope iteration {number}"):
                thread = words[0]
            if words[0] == thread:
                depth += 1
        elif words[1] == "end-op" and words[0] == thread:
            depth -= 1
            if depth == 0:
                return inside
        elif thread is not None:
            inside.append(line)
    raise SystemExit(f"there is no iteration {number} in the log")


def ranks_of(text):
    """The ranks of "0-3, 8", "0-56:8,100"; none of ""."""
    found = []
    for part in filter(None, re.split(", ?", text)):
        match = re.fullmatch(r"(\d+)(?:-(\d+)(?::(\d+))?)?", part)
        first, last, step = (int(group) if group else None for group in match.groups())
        found.extend(range(first, (first if last is None else last) + 1, step or 1))
    return tuple(found)


def captured(lines):
    rank = Rank()
    members, last = {}, None
    for line in lines:
        words = line.split(None, 2)
        if words[1] == "communicator":
            last = fields(line)["communicator"]
        elif words[1] == "mark" and "what=group " in line and members.get(last) == (None,):
            # A split of the world by its own ranks is told as a communicator of one rank.
            members[last] = ranks_of(line.split("what=group ")[1].split(" ")[1]) or members[last]
        elif words[1] == "mark" and "what=ranks " in line:
            members[last] = ranks_of(line.split("what=ranks ")[1].split(" ")[0]) or (None,)  # None: the rank itself
    grouped = collections.OrderedDict()
    for line in iteration_of(lines, ITERATION):
        kind = line.split(None, 2)[1]
        if kind == "product":
            f = {name: value if name == "library" else int(value) for name, value in fields(line).items()}
            outer = sorted((f["m"], f["n"]))
            rank.products[(*outer, f["k"], CUDA_TYPES.get(f["type_a"], f["type_a"]))] += f["batch"]
        elif kind == "call":
            f = {name: int(value) for name, value in fields(line).items()}
            f["communicator"] = fields(line)["communicator"]
            grouped.setdefault(f["group"], []).append(f)
    for calls in grouped.values():
        calls = [f for f in calls if f["count"] > 0 or FUNCTIONS[f["function"]] not in ("send", "recv")]
        if calls:
            add_group(rank, members, calls)
    return rank


def add_group(rank, members, calls):
    """Adds the calls between ncclGroupStart and ncclGroupEnd. Messages to all members are an all-to-all."""
    first = calls[0]
    ranks = members[first["communicator"]]
    sends = [f for f in calls if FUNCTIONS[f["function"]] == "send"]
    if len(calls) > 2 and len(sends) * 2 == len(calls) and sorted(f["peer"] for f in sends) == list(range(len(ranks))):
        kind = NCCL_TYPES[first["type"]]
        rank.calls[ranks].append(f"all-to-all {sum(f['count'] for f in sends) * SIZES[kind]} {kind}")
        return
    for f in calls:
        ranks, function, kind = members[f["communicator"]], FUNCTIONS[f["function"]], NCCL_TYPES[f["type"]]
        if len(ranks) == 1:
            rank.alone += 1
            continue
        size = f["count"] * SIZES[kind] * (len(ranks) if function in PARTED else 1)
        text = f"{function} {size} {kind}"
        if function in ("all-reduce", "reduce-scatter", "reduce") and OPERATIONS[f["op"]] != "sum":
            text += f" {OPERATIONS[f['op']]}"
        rank.calls[(function, ranks[f["peer"]]) if function in ("send", "recv") else ranks].append(text)


# ---- workload-gen's side ------------------------------------------------------------------------


def products_of(kind, part, words, flags):
    """The products of a submodule as {(m, n, k): number}."""
    found = collections.Counter()

    def add(m, n, k, times=1):
        found[(*sorted((m, n)), k)] += times

    if kind in ("linear", "router", "grouped-linear"):
        rows, n, k = map(int, re.match(r"(\d+) x (\d+) x (\d+)", words).groups())
        times = 1
        if kind == "grouped-linear":
            times = int(re.search(r"experts (\d+)", words)[1])
            rows //= times
        if part in ("fwd", "-"):
            add(rows, n, k, times)
        if part in ("dgrad", "bwd"):
            add(rows, k, n, times)
        if part in ("wgrad", "bwd"):
            add(n, k, rows, times)
    elif kind == "attention" and "fused" not in flags:
        batch, queries, heads, width = map(int, re.match(r"batch (\d+) sequence (\d+) heads (\d+)/\d+ head_dim (\d+)", words).groups())
        keys = int((re.search(r"kv_sequence (\d+)", words) or [0, queries])[1])
        values = int((re.search(r"value_dim (\d+)", words) or [0, width])[1])
        batch *= heads
        if part == "fwd":
            add(queries, keys, width, batch)
            add(queries, values, keys, batch)
        else:
            add(keys, values, queries, batch)
            add(queries, keys, values, batch)
            add(queries, width, keys, batch)
            add(keys, width, queries, batch)
    return found


SUBMODULE = re.compile(r"submodule \d+: (\S+) (\S+) (fwd|dgrad|wgrad|bwd|-) (\S+) (.*), [\d.e+]+ FLOP, ")
CALL = re.compile(r"call \d+: (\S+) (\d+) x (\S+) = .*? (?:from (\d+) to (\d+)|(?:(max|average|min|product|scaled sum) )?over \d+)")


def add_parts(found, ranks, rank, parts):
    """Adds a rank's messages of a group of messages, or the group's collectives."""
    for part in parts:
        function, count, type_, root, peer, _ = part.groups()
        text = f"{int(count) * SIZES[type_]} {type_}"
        if root is None:
            found.calls[ranks].append(f"{function} {text}")
            continue
        sender, receiver = ranks[int(root)], ranks[int(peer)]
        if sender == rank:
            found.calls[("send", receiver)].append(f"send {text}")
        if receiver == rank:
            found.calls[("recv", sender)].append(f"recv {text}")


def generated(tool, run, rank):
    out = subprocess.run([tool, "dump", run, "--tables"], check=True, text=True, capture_output=True).stdout
    submodules, blocks, calls = [], [], []
    for line in out.splitlines():
        if line.startswith("submodule "):
            match = SUBMODULE.match(line)
            kind, part, type_, words = match.group(2, 3, 4, 5)
            submodules.append({(*key, type_): times for key, times in products_of(kind, part, words, line).items()})
        elif line.startswith("block "):
            blocks.append(list(map(int, line.split(" =")[1].split())))
        elif line.startswith("call "):
            calls.append(CALL.match(line) or [CALL.match("call 0: " + part) for part in line.split("; ")[1:]])
    lines = subprocess.run([tool, "dump", run, "--ranks", str(rank)], check=True, text=True, capture_output=True).stdout.splitlines()
    its_class = re.match(r"rank \d+: class (\d+)", lines[0])[1]
    nodes = subprocess.run([sys.executable, ROOT / "core/schema/foreign/decode_et.py", pathlib.Path(run) / f"1-workload/class-{its_class}.et"],
                           check=True, text=True, capture_output=True).stdout.splitlines()[1:]
    found = Rank()
    stats = json.loads(subprocess.run([tool, "stats", run, "--json"], check=True, text=True, capture_output=True).stdout)
    peaks = stats["pytorch"][int(its_class)]
    found.peaks = (peaks["max_memory_allocated"], peaks["max_memory_reserved"])
    for line, node in zip(lines[1:], map(json.loads, nodes), strict=True):
        work = node["attr"]["drydock.op"][0]
        members = re.search(r"\(ranks ([^)]*)\)", line)
        if node["type"] == 4:
            for submodule in blocks[work]:
                found.products.update(submodules[submodule])
        elif node["type"] in (5, 6, 7):
            if isinstance(calls[work], list):
                add_parts(found, ranks_of(members[1]), rank, calls[work])
                continue
            function, count, type_, root, peer, operation = calls[work].groups()
            text = f"{int(count) * SIZES[type_]} {type_}"
            if root is not None:
                function = "send" if node["type"] == 5 else "recv"
                found.calls[(function, int(re.search(r" (?:to|from) rank (\d+) ", line)[1]))].append(f"{function} {text}")
            else:
                ranks = ranks_of(members[1])
                function = "all-to-all" if function == "all-to-all-v" else function
                found.calls[ranks].append(f"{function} {text}" + (f" {operation}" if operation else ""))
    return found


# ---- Comparison ---------------------------------------------------------------------------------


def short(texts):
    return "; ".join(f"{n}x {t}" for t, n in collections.Counter(texts).items())


def compare(program, model):
    """Returns (calls that agree, products that agree, lines that say what differs)."""
    lines, same_calls = [], 0
    for ranks in sorted(program.calls.keys() | model.calls.keys(), key=str):
        a, b = program.calls.get(ranks, []), model.calls.get(ranks, [])
        gone, new, moved = [], [], 0
        for tag, i, j, k, m in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
            if tag == "equal":
                same_calls += j - i
            else:
                gone += a[i:j]
                new += b[k:m]
        both = collections.Counter(gone) & collections.Counter(new)
        moved = sum(both.values())
        gone, new = collections.Counter(gone) - both, collections.Counter(new) - both
        same_calls += moved
        if moved:
            lines.append(f"ranks {ranks}: in another order: {short(both.elements())}")
        if gone:
            lines.append(f"ranks {ranks}: only the program: {short(gone.elements())}")
        if new:
            lines.append(f"ranks {ranks}: only workload-gen: {short(new.elements())}")
    for name, more in (("program", program.products - model.products), ("workload-gen", model.products - program.products)):
        for (m, n, k, type_), times in sorted(more.items()):
            lines.append(f"products: only {'the ' if name == 'program' else ''}{name}: {times}x {m} x {n} x {k} {type_}")
    return same_calls, sum((program.products & model.products).values()), lines


Result = collections.namedtuple("Result", "rank world calls products alone differences peaks")


def results_of(options, case, folder):
    """Compares each rank that the model file of a case names. Raises SystemExit if its program fails.

    Result.peaks: {"allocated": (of the program, of workload-gen), "reserved": ...}, in bytes.
    """
    text = (HERE / "models" / f"{case}.yaml").read_text()
    program = re.search(r"^# program: (.*)$", text, re.M)[1].split()
    ranks, world = re.search(r"^# ranks: (.*) of (\d+)$", text, re.M).groups()
    hosts = max(1, -(-int(world) // 8))
    run = folder / f"{case}.run"
    subprocess.run([options.bin / "workload-gen", HERE / "models" / f"{case}.yaml", CLUSTER, "-q", "-o", run, "--set", f"cluster.hosts={hosts}"],
                   check=True)
    for rank in map(int, ranks.split()):
        log = folder / f"{case}-{rank}.txt"
        if not (options.keep and log.exists()):
            done = subprocess.run(
                [options.bin / "capture_rank", CLUSTER, "--rank", str(rank), "--world", world, "--cache", options.cache, "--libraries",
                 options.libraries, "--sources", options.sources, "-o", log, "--", options.python, HERE / program[0], *program[1:]],
                env={**os.environ, "OMP_NUM_THREADS": "1", "CUDA_DEVICE_MAX_CONNECTIONS": "1"}, text=True, capture_output=True)
            if done.returncode != 0:
                raise SystemExit(f"{case} rank {rank}: the program fails\n{done.stderr[-2000:]}")
            log.with_suffix(".out").write_text(done.stdout)
        program_side = captured(log.read_text().splitlines())
        model_side = generated(options.bin / "workload-gen", run, rank)
        printed = re.search(r"^peak (\d+) (\d+)$", log.with_suffix(".out").read_text(), re.M)
        peaks = dict(zip(("allocated", "reserved"), zip(map(int, printed.groups()), model_side.peaks)))
        calls, products, differences = compare(program_side, model_side)
        yield Result(rank, int(world), calls, products, program_side.alone, differences, peaks)


def print_case(options, case, folder):
    for result in results_of(options, case, folder):
        print(f"{case} rank {result.rank} of {result.world}: {result.calls} calls and {result.products} products agree, "
              f"{len(result.differences)} differences" + (f"; {result.alone} calls over one rank" if result.alone else ""))
        for line in result.differences:
            print("   ", line)
        for name, (theirs, ours) in result.peaks.items():
            print(f"    max_memory_{name}: the program {theirs / 1e6:.1f} MB, workload-gen {ours / 1e6:.1f} MB, "
                  f"{100 * (ours / theirs - 1):+.1f} %", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--libraries", required=True, type=pathlib.Path)
    parser.add_argument("--python", required=True, help="a Python that has the frameworks")
    parser.add_argument("--sources", default=ROOT, help="of the tree that the binaries are from")
    parser.add_argument("--cache", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path, help="keeps logs and workloads")
    parser.add_argument("--keep", action="store_true", help="compare the logs that are in the folder")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_intermixed_args()
    options.bin = options.bin.resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or pathlib.Path(temporary)
        folder.mkdir(exist_ok=True, parents=True)
        options.cache = options.cache or folder / "cache"
        cases = options.cases or sorted(path.stem for path in (HERE / "models").glob("*.yaml"))
        for case in cases:
            try:
                print_case(options, case, folder)
            except SystemExit as failure:
                print(failure)


if __name__ == "__main__":
    main()
