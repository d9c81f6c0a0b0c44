#!/usr/bin/env bash
# Puts a pinned source archive into .deps/downloads and checks its hash:   fetch_source.sh NCCL|NS3 [ARCHIVE]
#
# With ARCHIVE, takes that file. Otherwise tries, in this order: an earlier download; the package mirrors of this
# machine's apt (with its proxies, credentials and options); the release of the authors. Installs nothing and keeps the
# machine's apt configuration and lists. The sha256 in third_party/versions.sh must match for every origin.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=third_party/versions.sh
source "$root/third_party/versions.sh"

declare -n pin=${1:?usage: fetch_source.sh NCCL|NS3 [ARCHIVE]}
own_archive=${2:-}
downloads=$deps/downloads
target=$downloads/${pin[file]}
work=$downloads/${pin[package]}.part

hash_of() { sha256sum <"$1" | cut -d' ' -f1; }
matches() { [[ -f $1 && $(hash_of "$1") == "${pin[sha256]}" ]]; }

give_up() {
  printf 'error: %s\n' "$@"
  exit 1
}

take_own_archive() {
  [[ -r $own_archive && -f $own_archive ]] || give_up "cannot read $own_archive"
  matches "$own_archive" || give_up "$own_archive is not the source of ${pin[package]} ${pin[version]}:
  its sha256 is  $(hash_of "$own_archive")
  expected       ${pin[sha256]}  (third_party/versions.sh)"
  cp "$own_archive" "$target.part"
  mv "$target.part" "$target"
}

# mirrors: prints the mirrors of this machine's release that apt is configured for, or all mirrors if there are none.
mirrors() {
  local codename all
  # shellcheck disable=SC1091
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  # shellcheck disable=SC2016
  all=$(apt-get indextargets --format '$(RELEASE) $(SITE)' 'Created-By: Packages')
  { grep "^$codename " <<<"$all" || printf '%s\n' "$all"; } | cut -d' ' -f2- | awk 'NF && !seen[$0]++'
}

# fetch_from_mirror SITE: puts the archive into $work. Uses apt with its own source list, index and cache, and with the
# rest of the machine's configuration (proxies, credentials, options) except hooks of an update.
fetch_from_mirror() {
  local option='' keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  [[ -r $keyring ]] && option="[signed-by=$keyring] "
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
  echo "deb-src $option$1 ${pin[suite]} ${pin[component]}" >"$work/sources.list"
  cat >"$work/apt.conf" <<CONF
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
Dir::Etc::SourceList "$work/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "$work/lists";
Dir::Cache "$work/cache";
Acquire::Languages "none";
Acquire::Retries "2";
APT::Sandbox::User "root";
CONF
  (cd "$work" && apt-get -c "$work/apt.conf" update &&
    apt-get -c "$work/apt.conf" source --tar-only --download-only "${pin[package]}=${pin[version]}")
}

# fetch_from_authors: uses apt's downloader with its proxies and credentials.
fetch_from_authors() {
  /usr/lib/apt/apt-helper -o APT::Sandbox::User=root download-file "${pin[url]}" "$work/${pin[file]}"
}

keep_if_good() {
  matches "$work/${pin[file]}" || return 1
  mv "$work/${pin[file]}" "$target"
  rm -rf "$work"
}

mkdir -p "$downloads"
rm -rf "$work"
if [[ -n $own_archive ]]; then
  take_own_archive
  exit 0
fi
matches "$target" && exit 0
rm -f "$target"
mkdir -p "$work"
while read -r site; do
  echo "trying ${site/\/\/*@/\/\/} for ${pin[package]} ${pin[version]}"
  fetch_from_mirror "$site" && keep_if_good && exit 0
done < <(mirrors)
echo "no mirror of this machine has it; trying the authors' release: ${pin[url]}"
fetch_from_authors && keep_if_good && exit 0

rm -rf "$work"
give_up "cannot fetch the source of ${pin[package]} ${pin[version]} (${pin[suite]}/${pin[component]})
  from the package mirrors of this machine nor from ${pin[url]}
  Fetch it elsewhere (sha256 ${pin[sha256]}) and give it with --${1,,}-archive FILE."
