#!/usr/bin/env bash
# Installs the packages of LIST... that are missing, without recommended ones. LIST is scripts/packages.txt by default.
#   install_packages.sh [LIST...]             needs root, or sudo that does not ask for a password
#   install_packages.sh --missing [LIST...]   prints the missing packages, one per line, and changes nothing
set -euo pipefail

only_missing=''
if [[ ${1:-} == --missing ]]; then
  only_missing=1
  shift
fi
lists=("$@")
((${#lists[@]} > 0)) || lists=("$(dirname "${BASH_SOURCE[0]}")/packages.txt")
mapfile -t wanted < <(sed 's/#.*//; s/[[:space:]]*$//; /^$/d' "${lists[@]}")

missing_packages() {
  declare -A installed
  local name state
  while read -r state name; do
    [[ $state == installed ]] && installed[$name]=1
  done < <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
  for name in "${wanted[@]}"; do
    [[ -n ${installed[$name]:-} ]] || printf '%s\n' "$name"
  done
}

# explain_failure PACKAGE...: prints the packages that apt cannot install, with apt's messages.
explain_failure() {
  local name why named=''
  echo "error: these packages could not be installed:"
  for name in "$@"; do
    why=$("${apt_get[@]}" install --simulate --no-install-recommends "$name" 2>&1) && continue
    printf '  %-24s %s\n' "$name" "$(sed -n 's/^E: //p' <<<"$why" | head -n 1)"
    named=1
  done
  # If apt reports no error for any package, a download or an unpacking failed; the log above shows it.
  [[ -n $named ]] || printf '  %s\n' "$@"
  echo "Check the machine's package sources, or install them by hand, and run the same command again."
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "error: this machine has no apt and dpkg; Drydock is set up on Debian 12" >&2
  exit 1
fi
mapfile -t missing < <(missing_packages)
if [[ -n $only_missing ]]; then
  ((${#missing[@]} == 0)) || printf '%s\n' "${missing[@]}"
  exit 0
fi
((${#missing[@]} > 0)) || exit 0

as_root=()
if ((EUID != 0)); then
  as_root=(sudo -n)
  if ! sudo -n true 2>/dev/null; then
    echo "error: installing packages needs root or sudo. Install these and run the same command again:"
    echo "  apt-get install --no-install-recommends ${missing[*]}"
    exit 1
  fi
fi
apt_get=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C
  apt-get -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)

echo "missing: ${missing[*]}"
"${as_root[@]}" dpkg --configure -a # completes an interrupted installation
"${apt_get[@]}" update || echo "apt-get update failed; trying with the existing lists"
"${apt_get[@]}" install --no-install-recommends "${missing[@]}" || true

mapfile -t missing < <(missing_packages)
if ((${#missing[@]} > 0)); then
  explain_failure "${missing[@]}"
  exit 1
fi
