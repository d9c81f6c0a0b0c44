#!/usr/bin/env bash
# Builds the part of ns-3 that Drydock links and installs it:   build.sh ARCHIVE PREFIX JOBS
#
# ARCHIVE is the tarball third_party/versions.sh pins; PREFIX receives lib/, include/ and the CMake config; JOBS
# compilers run at once. An interrupted build goes on where it stopped; a finished one returns at once, unless the
# archive or this file has changed. The source tree lies beside PREFIX while it is needed.
set -euo pipefail

archive=${1:?usage: build.sh ARCHIVE PREFIX JOBS}
prefix=${2:?usage: build.sh ARCHIVE PREFIX JOBS}
jobs=${3:?usage: build.sh ARCHIVE PREFIX JOBS}

wanted=$(cat "$archive" "${BASH_SOURCE[0]}" | sha256sum | cut -d' ' -f1)
stamp=$prefix/.built-from
[[ -f $stamp && $(<"$stamp") == "$wanted" ]] && exit 0

work=$prefix.build
if [[ ! -f $work/unpacked || $(<"$work/unpacked") != "$wanted" ]]; then
  rm -rf "$work"
  mkdir -p "$work/source"
  # The archive also carries a build helper and an animator; only the simulator's own folder is wanted.
  tar -xf "$archive" -C "$work/source" --strip-components=2 --exclude='*/doc/*' --wildcards 'ns-allinone-*/ns-3.*'
  echo "$wanted" >"$work/unpacked"
fi

# Logging and assertions cost a third of the packet rate. Tests, examples, bindings and optional libraries are off:
# a machine that happens to have them must not get a different ns-3.
# shellcheck disable=SC2016  # $ORIGIN is the loader's: the libraries find each other wherever the folder is moved.
options=(-DCMAKE_BUILD_TYPE=release -DCMAKE_INSTALL_PREFIX="$prefix" '-DCMAKE_INSTALL_RPATH=$ORIGIN' -DNS3_MPI=ON
  -DNS3_PRECOMPILE_HEADERS=ON "-DNS3_ENABLED_MODULES=core;network;stats;point-to-point;mpi")
for feature in LOG ASSERT EXAMPLES TESTS PYTHON_BINDINGS VISUALIZER GTK3 SQLITE GSL EMU TAP NETANIM \
  WARNINGS_AS_ERRORS; do
  options+=("-DNS3_$feature=OFF")
done
cmake -G Ninja -S "$work/source" -B "$work/tree" "${options[@]}"
cmake --build "$work/tree" --parallel "$jobs"

rm -rf "$prefix"
cmake --install "$work/tree"
rm -rf "$prefix/lib/pkgconfig" # absolute paths that no build of Drydock reads
echo "$wanted" >"$stamp"
rm -rf "$work"
