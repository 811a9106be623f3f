# shellcheck shell=bash
# How the scripts of the lane take Debian packages, to be sourced: they are
# downloaded and unpacked, never installed. What is installed on the machine
# decides nothing; only whether a program finds its libraries does.

mirror() {
  { cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null || true; } |
    grep -oE 'https?://[^ ]+/debian/?( |$)' | head -n1 | tr -d ' '
}

# private_apt points apt at lists, caches and a record of installed packages of
# our own below $1: an installed package of another mirror would be the only
# version apt names, and could not be downloaded. $3, if given, is the suite of
# sources.
private_apt() { # FOLDER SUITE [SOURCES]
  local at=$1 suite=$2 sources=${3:-} host
  host=$(mirror) && [ -n "$host" ] || die "no Debian mirror among this machine's apt sources; the lane needs one"
  mkdir -p "$at/lists/partial" "$at/cache/archives/partial" "$at/parts"
  : >"$at/status"
  local key='signed-by=/usr/share/keyrings/debian-archive-keyring.gpg'
  echo "deb [$key] $host $suite main" >"$at/sources.list"
  [ -z "$sources" ] || echo "deb-src [$key] $host $sources main" >>"$at/sources.list"
  cat >"$at/conf" <<CONF
Dir::State::Lists "$at/lists";
Dir::State::status "$at/status";
Dir::Cache "$at/cache";
Dir::Etc::sourcelist "$at/sources.list";
Dir::Etc::sourceparts "$at/parts";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "$at/parts";
Acquire::Languages "none";
Acquire::Retries "3";
APT::Sandbox::User "root";
CONF
  export APT_CONFIG=$at/conf
  apt-get update -qq || die "the Debian mirror $host cannot be reached; the lane needs it once"
}

suite() { . /etc/os-release && echo "${VERSION_CODENAME:-bookworm}"; }

# unpack downloads packages into the current folder and unpacks them below PREFIX.
unpack() { # PREFIX PACKAGE…
  local prefix=$1 deb
  shift
  apt-get download -qq "$@" >&2 || die "cannot download $*"
  for deb in ./*.deb; do dpkg-deb -x "$deb" "$prefix"; rm "$deb"; done
}

# libraries lists the folders of libraries that were unpacked below PREFIX, as
# LD_LIBRARY_PATH wants them. There are none where the machine has them all.
libraries() { # PREFIX
  local list= at
  for at in "$1"/usr/lib/*-linux-gnu* "$1"/lib/*-linux-gnu*; do
    [ ! -d "$at" ] || list=$list${list:+:}$at
  done
  echo "$list"
}

# missing names the libraries that programs below PREFIX do not find here.
missing() { # PREFIX
  local at
  at=$(libraries "$1")
  find "$1/usr" -type f \( -path '*/bin/*' -o -path '*/sbin/*' \) -perm -u+x -exec \
    env LD_LIBRARY_PATH="$at" ldd {} + 2>/dev/null | awk '/not found/ {print $1}' | sort -u || true
}

# complete unpacks the libraries of packages as far as programs below PREFIX do
# not find them on this machine. libc belongs to the machine's loader and stays
# the machine's.
complete() { # PREFIX PACKAGE…
  local prefix=$1
  shift
  [ -n "$(missing "$prefix")" ] || return 0
  # shellcheck disable=SC2046
  unpack "$prefix" $(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances "$@" |
    grep -oE '^(lib|lua)[a-z0-9.+-]*$' | grep -vE '^lib(c6|c-bin|c-l10n|llvm|gcc|stdc|perl|crypt1$|elogind|pam-modules|debian-installer)|-(perl|common)$' | sort -u)
  [ -z "$(missing "$prefix")" ] || die "these libraries are missing: $(missing "$prefix" | paste -sd' ')"
}
