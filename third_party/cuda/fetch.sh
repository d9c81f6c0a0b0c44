#!/usr/bin/env bash
# Puts nvcc, its headers, the CUDA runtime and cuBLASLt of third_party/cuda/wheels.txt into a folder:
#   fetch.sh FOLDER
# Only the tests of gpu-profiler need it (528 MB to fetch, 0.8 GB in the folder). It downloads with pip, so this
# machine's mirrors, proxies and credentials apply, and installs nothing. If the wheels cannot be fetched, it prints the
# reason and ends with 77. If FOLDER was made from the same list, it does nothing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
target=${1:?usage: fetch.sh FOLDER}
work=$target.part

cannot() {
  printf 'error: %s\n' "$@" >&2
  rm -rf "$work"
  exit 77
}

if cmp -s "$here/wheels.txt" "$target/wheels.txt"; then exit 0; fi
rm -rf "$target" "$work"
mkdir -p "$work/wheels"
[[ $(uname -m) == x86_64 ]] || cannot "the CUDA toolkit's wheels in third_party/cuda/wheels.txt are for x86_64, not $(uname -m)"
python3 -m pip --version >/dev/null 2>&1 || cannot "there is no pip (package python3-pip) to fetch the CUDA toolkit with"
python3 -m pip --disable-pip-version-check download --quiet --no-deps --only-binary=:all: --require-hashes \
  --no-cache-dir --dest "$work/wheels" --requirement "$here/wheels.txt" ||
  cannot "pip cannot fetch the CUDA toolkit's wheels from the index of this machine's configuration (see above)"

# Unpacks the whole compiler, and the libraries that gpu-profiler links.
python3 - "$work" <<'PYTHON'
import pathlib, sys, zipfile

work = pathlib.Path(sys.argv[1])
libraries = ("libcublasLt.so", "libcudart_static.a", "libcudadevrt.a")
for wheel in sorted((work / "wheels").glob("*.whl")):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            root, _, inside = name.partition("nvidia/cu13/")
            if root or not inside or name.endswith("/"):
                continue
            if inside.startswith("lib/") and not inside[4:].startswith(libraries):
                continue
            path = work / inside
            path.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(name) as source, open(path, "wb") as copy:
                while block := source.read(1 << 20):
                    copy.write(block)
            if inside.startswith(("bin/", "nvvm/bin/")):
                path.chmod(0o755)
    wheel.unlink()  # no longer needed
library = next((work / "lib").glob("libcublasLt.so.*"))
(work / "lib" / "libcublasLt.so").symlink_to(library.name)
(work / "lib64").symlink_to("lib")
PYTHON
rmdir "$work/wheels"
cp "$here/wheels.txt" "$work/wheels.txt"
mv "$work" "$target"
