#!/bin/sh
# Builds libhacknccl.so, NCCL without a GPU, and drop-in/, with which other programs run on it.
#
#   third_party/nccl/build.sh SOURCE_ARCHIVE PREFIX JOBS
#
# SOURCE_ARCHIVE  NCCL 2.29.7 sources (.tar.gz or .tar.xz; the hash is checked by scripts/setup.sh)
# PREFIX          receives libhacknccl.so and, for tests/oracle, libhacknccl_oracle.so; work folders
#                 beside them (default: .deps/nccl)
# JOBS            parallel compilations (default: all cores)
#
# Unpacks, applies patches/nccl in order, lets NCCL's own scripts write the kernel tables, lists its
# settings, compiles the host code with simccl/hacknccl. Safe to repeat: does nothing if nothing
# changed, and an interrupted run continues where it stopped. Needs tar, patch, python3, cmake,
# ninja, g++; uses ccache if it is there.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
if [ $# -lt 1 ]; then
  sed -n '2,15s/^# \{0,1\}//p' "$0"
  exit 2
fi
archive=$1
prefix=${2:-$root/.deps/nccl}
jobs=${3:-$(nproc)}
ours=$root/simccl/hacknccl
here=$root/third_party/nccl

say() { printf 'nccl: %s\n' "$*"; }

[ -r "$archive" ] || { say "cannot read $archive" >&2; exit 1; }
for tool in tar patch python3 cmake ninja g++ sha256sum; do
  command -v $tool >/dev/null || { say "the command '$tool' is missing" >&2; exit 1; }
done

mkdir -p "$prefix"
source_hash=$( { sha256sum <"$archive"; cat "$root"/patches/nccl/*.patch; } | sha256sum | cut -c1-16)
build_hash=$( { echo "$source_hash"; cat "$root"/core/nccl/hacknccl*.h "$root/core/nccl/recording.h" \
    "$root/core/nccl/capture.h" "$root/core/nccl/rank_schedule.h" "$root/core/containers/hash.h" \
    "$here/list_settings.py"; find "$ours" -type f | LC_ALL=C sort | xargs cat; } | sha256sum | cut -c1-16)
if [ -r "$prefix/libhacknccl.so" ] && [ "$(cat "$prefix/stamp" 2>/dev/null)" = "$build_hash" ]; then
  say "libhacknccl.so is up to date ($build_hash)"
  exit 0
fi

tree=$prefix/source-$source_hash
if [ ! -e "$tree/.ready" ]; then
  say "unpacking $(basename "$archive")"
  rm -rf "$prefix"/source-*
  mkdir -p "$tree"
  tar -xf "$archive" -C "$tree" --strip-components=1
  for patch in "$root"/patches/nccl/*.patch; do
    say "applying $(basename "$patch")"
    patch -d "$tree" -p1 -s --no-backup-if-mismatch <"$patch"
  done
  touch "$tree/.ready"
fi

# The kernels themselves are device code and stay out; the tables that name them are host code.
tables=$prefix/generated
tables_hash=$( { echo "$source_hash"; cat "$here/list_settings.py"; } | sha256sum | cut -c1-16)
if [ "$(cat "$tables/.ready" 2>/dev/null)" != "$tables_hash" ]; then
  say "writing tables of kernels and settings"
  rm -rf "$tables"
  mkdir -p "$tables/include" "$tables/kernels" "$tables/symmetric"
  python3 "$tree/src/device/generate.py" "$tables/kernels" >/dev/null
  python3 "$tree/src/device/symmetric/generate.py" "$tables/symmetric" >/dev/null
  python3 "$here/list_settings.py" "$tree" >"$tables/settings_table.cc"
  cp "$tables/kernels/host_table.cc" "$tables/symmetric/sym_kernels_host.cc" "$tables/"
  {
    echo '#include "device.h"'
    echo '#include "sym_kernels.h"'
    grep -o 'void ncclDevKernel_[A-Za-z0-9_]*(ncclDevKernelArgs4K const)' "$tables/host_table.cc"
    grep -o 'void ncclSymkDevKernel_[A-Za-z0-9_]*(ncclSymkDevWorkArgs4K const)' \
        "$tables/sym_kernels_host.cc"
  } | sed 's/^void .*/& {}/' | awk '!seen[$0]++' >"$tables/empty_kernels.cc"
  sed -e 's/${nccl:Major}/2/g' -e 's/${nccl:Minor}/29/g' -e 's/${nccl:Patch}/7/g' \
      -e 's/${nccl:Suffix}//g' -e 's/${nccl:Version}/22907/g' \
      "$tree/src/nccl.h.in" >"$tables/include/nccl.h"
  printf '#define NCCL_GIT_BRANCH "2.29.7"\n#define NCCL_GIT_COMMIT_HASH "release"\n' \
      >"$tables/include/nccl_git_version.h"
  echo "$tables_hash" >"$tables/.ready"
fi

launcher=
command -v ccache >/dev/null && launcher=-DCMAKE_CXX_COMPILER_LAUNCHER=ccache
say "compiling with $jobs jobs (about 100 s of one core)"
cmake -G Ninja -S "$ours" -B "$prefix/build" -DCMAKE_BUILD_TYPE=None $launcher \
    -DNCCL_SOURCE="$tree" -DNCCL_GENERATED="$tables" -DDRYDOCK_SOURCE="$root" >"$prefix/cmake.log" ||
  { cat "$prefix/cmake.log"; exit 1; }
ninja -C "$prefix/build" -j "$jobs" --quiet libhacknccl.so libhacknccl_oracle.so libcudart.so nccl-schedule
for library in libhacknccl_oracle.so libhacknccl.so; do
  cp "$prefix/build/$library" "$prefix/$library.new"
  mv "$prefix/$library.new" "$prefix/$library"
done

# Headers and libraries for programs that are recorded, and nccl-schedule, which nccl-record starts
# (docs/explanation/nccl.md).
drop_in=$prefix/drop-in
rm -rf "$drop_in.new" && mkdir -p "$drop_in.new/include" "$drop_in.new/lib" "$drop_in.new/bin"
cp "$prefix/build/nccl-schedule" "$drop_in.new/bin/"
cp "$tables/include/nccl.h" "$ours"/shim/*.h "$drop_in.new/include/"
cp "$prefix/build/libcudart.so" "$drop_in.new/lib/libcudart.so.13"
ln -s ../../libhacknccl.so "$drop_in.new/lib/libnccl.so.2"
ln -s libnccl.so.2 "$drop_in.new/lib/libnccl.so"
for name in libcudart.so libcudart.so.12 libcudart.so.11.0; do
  ln -s libcudart.so.13 "$drop_in.new/lib/$name"
done
rm -rf "$drop_in" && mv "$drop_in.new" "$drop_in"
echo "$build_hash" >"$prefix/stamp"
say "built $prefix/libhacknccl.so ($build_hash)"
