#!/usr/bin/env bash
# Makes the Debian package, installs it in an empty Debian 12, and runs it there.
#   debian_test.sh BUILD [FOLDER]    FOLDER keeps the empty Debian between calls (default: a temporary one)
# Needs root, debootstrap and the mirror of this machine; without them its exit status is 77. It mounts /proc and /dev in the
# machine's folder and takes them away again.
set -euo pipefail
build=$(realpath "$1")
((EUID == 0)) && command -v debootstrap >/dev/null || { echo "needs root and debootstrap"; exit 77; }
work=$(mktemp -d)
base=${2:-$work}
machine=$work/machine
mounted=(dev proc)

clean_up() {
  local folder
  for folder in "${mounted[@]}"; do ! mountpoint -q "$machine/$folder" || umount -l "$machine/$folder"; done
  rm -rf --one-file-system "$work"
}
trap clean_up EXIT

if [[ ! -d $base/clean/usr ]]; then
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -m1 '/debian$') || exit 77
  mkdir -p "$base"
  debootstrap --variant=minbase bookworm "$base/clean" "$mirror" >"$work/log" 2>&1 || { tail -5 "$work/log"; exit 77; }
fi
cp -a "$base/clean" "$machine"
(cd "$build" && cpack -G DEB -B "$work/package" >"$work/log") || { cat "$work/log"; exit 1; }
cp "$work"/package/*.deb "$machine/root/"
cp /etc/resolv.conf /etc/hosts "$machine/etc/"
cp /etc/apt/apt.conf.d/* "$machine/etc/apt/apt.conf.d/" # this machine's way to its mirrors
mount -t proc proc "$machine/proc"
mount --bind /dev "$machine/dev"
inside() { chroot "$machine" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 bash -euc "cd /root && $1"; }

inside 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ./drydock_*.deb' >"$work/log" 2>&1 ||
  { tail -20 "$work/log"; exit 1; }
inside 'drydock run gpt-22b dgx-a100-80g-1 --network analytical --out run && drydock doctor && drydock gpus >/dev/null && drydock capture --help >/dev/null'
"$build/bin/drydock" run gpt-22b dgx-a100-80g-1 --network analytical -q --out "$work/run" >/dev/null
cmp "$machine/root/run/summary.txt" "$work/run/summary.txt"
inside 'dpkg -r drydock >/dev/null && ! command -v drydock'
echo "the package installs, predicts as the build does, and is removed"
