#!/usr/bin/env python3
"""Measures the kernels of a transformer layer and the whole layer on this machine's GPU, and compares predictions.

gpu-profiler adds the kernels to a profile, optionally with those of runs (--run) and of a grid (--rows, --widths). The
layer is a Llama's in PyTorch (torch_layer.py), or one that you measured with your own framework (--layer-times).
compute-sim predicts the layer twice: from the rows of the profile, and from the model of the GPU without the rows.
Exit status: 0 the sum predicted from the rows is within the limit, 1 it is not, 2 wrong usage.

  scripts/check_layer.py --gpu h200-sxm-141g -o h200.csv
  scripts/check_layer.py --gpu h200-sxm-141g -o h200.csv --run gpt-175b --rows 4096,8192 --widths 4096,6144,14336
  scripts/check_layer.py --gpu h200-sxm-141g -o h200.csv --layer-times '{"forward_us": 2100, "backward_us": 4500}'
"""
import argparse
import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# A submodule's line of `compute-sim explain`; its kernels are indented further.
SUBMODULE = re.compile(r"^ *([\d.]+) (ns|us|ms|s)  (\S.*) (\S+)$", re.M)
MICROSECONDS = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}


@dataclasses.dataclass
class Shape:
    """Llama 3 8B, a sequence of 8192."""
    batch: int = 1
    sequence: int = 8192
    hidden: int = 4096
    heads: int = 32
    kv_heads: int = 8
    head_dim: int = 128
    ffn: int = 14336

    def submodules(self):
        rows = self.batch * self.sequence
        qkv, rotated = self.heads + 2 * self.kv_heads, self.heads + self.kv_heads
        attention = (f"batch: {self.batch}, sequence: {self.sequence}, heads: {self.heads}, kv_heads: {self.kv_heads}, "
                     f"head_dim: {self.head_dim}, causal: true, fused: true")
        lines = [("norm", f"n: {self.hidden}, rms: true, fused: true"),
                 ("linear", f"n: {qkv * self.head_dim}, k: {self.hidden}"),
                 ("rotary", f"n: {rotated * self.head_dim}, fused: true"),
                 ("attention", None),
                 ("linear", f"n: {self.hidden}, k: {self.heads * self.head_dim}"),
                 ("add", f"n: {self.hidden}"),
                 ("norm", f"n: {self.hidden}, rms: true, fused: true"),
                 ("linear", f"n: {2 * self.ffn}, k: {self.hidden}"),
                 ("activation", f"n: {self.ffn}, gated: true"),
                 ("linear", f"n: {self.hidden}, k: {self.ffn}"),
                 ("add", f"n: {self.hidden}"),
                 # The gradients of the two residual connections are sums of two gradients each.
                 ("add", f"name: gradient, n: {self.hidden}"), ("add", f"name: gradient, n: {self.hidden}")]
        return "submodules:\n" + "".join(
            f"  - {{kind: {kind}, {f'rows: {rows}, {words}' if words else attention}}}\n" for kind, words in lines)


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return done.stdout


def measure_kernels(options, layer):
    """Measures runs and a grid in bf16 and fp8, then the layer, into the profile. gpu-profiler reports and skips what
    the GPU or a library does not support."""
    command = [options.bin / "gpu-profiler", "--gpu", pathlib.Path(options.gpu).stem, "-o", options.output]
    if options.cudnn:
        command += ["--cudnn", options.cudnn]
    grid = ["--rows", options.rows, "--widths", options.widths]
    wanted = [[folder] for folder in options.run]
    if options.rows:
        wanted += [[*grid, "--grid", "products,memory"], [*grid, "--dtype", "fp8"]]
    for words in wanted:
        if subprocess.run([*command, *words]).returncode == 130:
            sys.exit(130)
    run(*command, "--submodules", layer)


def predicted(tools, gpu, layer, *words):
    """Returns the predicted microseconds of the forward and the backward pass."""
    passes = {"fwd": 0.0, "bwd": 0.0}
    for time, unit, name, which in SUBMODULE.findall(
            run(tools / "compute-sim", "explain", "--gpu", gpu, "--submodules", layer, "-q", *words)):
        backward = which == "bwd" or name == "gradient"
        passes["bwd" if backward else "fwd"] += float(time) * MICROSECONDS[unit]
    return passes["fwd"], passes["bwd"]


def layer_times(options, shape):
    if options.layer_times is not None:
        try:
            times = json.loads(options.layer_times)
            return float(times["forward_us"]), float(times["backward_us"]), "measured elsewhere"
        except (ValueError, KeyError, TypeError) as error:
            sys.exit(f"check_layer.py: error: --layer-times has no forward_us and backward_us: {error!r}")
    sys.path.insert(0, str(HERE))
    import torch_layer  # needs PyTorch and a GPU
    times = torch_layer.measure(shape)
    return times["forward_us"], times["backward_us"], times["on"]


def compare(measured, predictions):
    """Prints a table. Returns the error of the sum of the first prediction."""
    print(f"{'':10}{'measured':>12}" + "".join(f"{name:>14}{'':9}" for name, _ in predictions))
    rows = (("forward", lambda t: t[0]), ("backward", lambda t: t[1]), ("sum", lambda t: t[0] + t[1]))
    for name, of in rows:
        errors = [of(times) / of(measured) - 1 for _, times in predictions]
        print(f"{name:10}{of(measured):>9.0f} us" + "".join(
            f"{of(times):>11.0f} us {error:+7.1%} " for (_, times), error in zip(predictions, errors)))
    return sum(predictions[0][1]) / sum(measured) - 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", required=True, help="the GPU's name in configs/gpus, or its file")
    parser.add_argument("-o", "--output", required=True, type=pathlib.Path, help="the profile; an existing one is continued")
    parser.add_argument("--bin", type=pathlib.Path, default=HERE.parent / "build/release/bin", help="folder of the tools")
    parser.add_argument("--cudnn", help="libcudnn.so.9, if the loader does not find it")
    parser.add_argument("--run", metavar="RUN", action="append", default=[], help="also measure the kernels of this run; may be repeated")
    parser.add_argument("--rows", help="also measure a grid of kernels with these values of M, separated by commas")
    parser.add_argument("--widths", help="with --rows: values of N and K, in all pairs")
    parser.add_argument("--layer-times", metavar="JSON", help="times of your own layer; with an existing profile, no GPU is needed")
    parser.add_argument("--limit", type=float, default=5, help="largest error of the sum in percent (default: 5)")
    for field in dataclasses.fields(Shape):
        parser.add_argument("--" + field.name.replace("_", "-"), type=int, default=field.default, help=f"(default: {field.default})")
    options = parser.parse_args()
    if bool(options.rows) != bool(options.widths):
        parser.error("--rows and --widths go together")
    shape = Shape(**{field.name: getattr(options, field.name) for field in dataclasses.fields(Shape)})
    with tempfile.TemporaryDirectory() as folder:
        layer = pathlib.Path(folder) / "layer.yaml"
        layer.write_text(shape.submodules())
        if options.layer_times is None or not options.output.exists():
            measure_kernels(options, layer)
        *measured, where = layer_times(options, shape)
        predictions = [
            ("from the rows", predicted(options.bin, options.gpu, layer, "--gpu-profile", options.output)),
            ("by the model", predicted(options.bin, options.gpu, layer, "--no-shipped-profiles"))]
    print(f"A layer of {shape}, {where}")
    off = compare(measured, predictions)
    within = abs(off) * 100 <= options.limit
    print(f"the sum is {off:+.1%} off, {'within' if within else 'beyond'} {options.limit:g} %")
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
