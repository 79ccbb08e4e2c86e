#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The binary interface of a shared library with debug information, as libabigail sees it:
#
#   abi.sh describe LIBRARY INCLUDE_FOLDER              prints a description: exported functions, and the types of
#                                                       the public header that they use; no paths of this machine
#   abi.sh check LIBRARY INCLUDE_FOLDER DESCRIPTION     exits 1 and says what changed if anything did, additions too
set -u

need() {
  command -v "$1" >/dev/null || { echo "abi.sh: there is no $1; Debian's abigail-tools has it" >&2 && exit 1; }
}

describe() { # LIBRARY INCLUDE_FOLDER
  need abidw
  abidw --headers-dir "$2" --drop-private-types --exported-interfaces-only --no-corpus-path --no-comp-dir-path \
    --no-show-locs --no-architecture --no-elf-needed "$1"
}

check() { # LIBRARY INCLUDE_FOLDER DESCRIPTION
  need abidiff
  for file in "$1" "$3"; do
    [ -s "$file" ] || { echo "abi.sh: there is no $file" >&2 && exit 1; }
  done
  found=$(mktemp) && trap 'rm -f "$found"' EXIT
  describe "$1" "$2" >"$found" || exit 1
  # Functions without debug information would be compared by their names alone.
  [ "$(grep -c '<function-decl ' "$found")" -ge 25 ] ||
    { echo "abi.sh: $1 has no debug information of its functions" >&2 && exit 1; }
  # Two descriptions: abidiff takes types for private, and passes over them, where one side has no source locations.
  # Harmless changes too: another name of a typedef is one, and breaks who compiles against the header.
  abidiff --harmless "$3" "$found" && return
  echo "The binary interface is not that of $3."
  echo "If that is meant, review the changes above, raise the version in rownorm.h, and sh tests/abi/update.sh"
  exit 1
}

command=${1:-}
[ $# -gt 0 ] && shift
case "$command $#" in
"describe 2" | "check 3") "$command" "$@" ;;
*) sed -n '4,9s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac
