# shellcheck shell=bash disable=SC2034
# The only place that pins foreign source code (third_party/README.md says why each is here).
# One table per source; scripts/fetch_source.sh and the two build.sh read it.
#   package, version, suite, component: the distribution's source package and where it is indexed
#   file: its name there and in .deps/downloads
#   url: the authors' release, tried only if no package mirror has the source
#   sha256: the required hash of every copy, whatever its origin

declare -A NCCL=(
  [package]=nvidia-nccl
  [version]=2.29.7-1-1
  [suite]=sid
  [component]=contrib
  [file]=nvidia-nccl_2.29.7-1.orig.tar.gz
  [url]=https://github.com/NVIDIA/nccl/archive/refs/tags/v2.29.7-1.tar.gz
  [licence]=Apache-2.0
  [sha256]=e67239212c395bfdb398a7519491840d06fdf6b599c299f97c7ed0109777bba1
)

declare -A NS3=(
  [package]=ns3
  [version]=3.37-2
  [suite]=bookworm
  [component]=main
  [file]=ns3_3.37.orig.tar.bz2
  [url]=https://www.nsnam.org/releases/ns-allinone-3.37.tar.bz2
  [licence]=GPL-2.0-only
  [sha256]=dfa5ca1994ff3dbe1d4b23cef54e05e6079f5707a2ed6055f717bdd5b458c38d
)
