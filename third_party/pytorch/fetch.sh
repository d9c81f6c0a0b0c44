#!/usr/bin/env bash
# Puts PyTorch and what it imports, of third_party/pytorch/wheels.txt, into a folder for PYTHONPATH:
#   fetch.sh FOLDER
# Only the tests of capture need it (0.9 GB to fetch, 1.7 GB in the folder). It downloads with pip, so this machine's
# mirrors, proxies and credentials apply, and installs nothing elsewhere. If the wheels cannot be fetched, it prints the
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
mkdir -p "$work"
[[ $(uname -m) == x86_64 ]] || cannot "the wheels in third_party/pytorch/wheels.txt are for x86_64, not $(uname -m)"
python3 -m pip --version >/dev/null 2>&1 || cannot "there is no pip (package python3-pip) to fetch PyTorch with"
python3 -m pip --disable-pip-version-check install --quiet --no-deps --only-binary=:all: --require-hashes --no-compile \
  --no-cache-dir --root-user-action=ignore --target "$work" --requirement "$here/wheels.txt" ||
  cannot "pip cannot fetch PyTorch's wheels from the index of this machine's configuration (see above)"
cp "$here/wheels.txt" "$work/wheels.txt"
mv "$work" "$target"
