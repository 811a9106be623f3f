#!/bin/sh
# Runs `go build` with the arguments given. Where that will take minutes, as it
# does once on a machine that has none of the packages compiled yet, it says so
# and how far it is; a build of seconds says nothing. What the compiler says
# about mistakes goes through as it is, and so does its exit status.
#
# usage: [GO=go] scripts/build.sh ARG… PACKAGE
#
# It is written for the plain shell: whoever has Go and make has that.
set -u
go=${GO:-go}

# after is how many seconds a build is silent, few how many packages it must have
# compiled by then: who changed one package of many is not told about a first time.
after=${BUILD_AFTER:-5}
few=${BUILD_FEW:-25}

# memory is how much may be taken, in KB; 0 where that cannot be told.
memory() {
  free=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB$/\1/p' "${BUILD_MEMINFO:-/proc/meminfo}" 2>/dev/null)
  limit=$(cat "${BUILD_CGROUP:-/sys/fs/cgroup/memory.max}" 2>/dev/null)
  case $limit in
  '' | *[!0-9]*) ;; # none
  *) [ $((limit / 1024)) -ge "${free:-0}" ] || free=$((limit / 1024)) ;;
  esac
  echo "${free:-0}"
}

# The compiler collects its garbage less often where there is room for it. A first
# build takes an eighth less processor time for a third more memory, which is up
# to 3.3 GB for the largest package.
if [ -z "${GOGC:-}${GOMEMLIMIT:-}" ] && [ "$(memory)" -ge 8000000 ]; then
  export GOGC=300
fi

for package; do :; done # the last argument
kept=$(mktemp -d "${TMPDIR:-/tmp}/liminal-build.XXXXXX") || exit 1
trap 'rm -rf "$kept"' EXIT
trap 'exit 130' INT TERM

# said turns the names that `go build -v` prints into how far it is, and prints
# everything else.
said() {
  begun=$(date +%s) next=0 count=0 total=
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in
    '' | *[!a-zA-Z0-9._~/+-]* | [!a-zA-Z]*) # no package has such a name
      wipe
      printf '%s\n' "$line"
      continue ;;
    esac
    count=$((count + 1))
    now=$(date +%s)
    [ $((now - begun)) -ge "$after" ] && [ $count -ge "$few" ] || continue
    if [ -z "$total" ]; then
      total=$("$go" list -deps "$package" 2>/dev/null | grep -vcx unsafe)
      echo "Compiling Liminal and the engine inside it. This takes minutes the first time, and seconds from then on."
    fi
    case $line in
    *"${package#.}") tell linking ;;
    *)
      [ "$now" -ge "$next" ] || continue
      tell "$count of $total packages after $(((now - begun) / 60)):$(printf %02d $(((now - begun) % 60)))"
      if [ -t 2 ]; then next=$((now + 1)); else next=$((now + 30)); fi ;;
    esac
  done
  wipe
}

# tell shows one line that changes on a terminal, and prints lines in a log.
tell() {
  if [ -t 2 ]; then
    wipe
    printf '  %s ' "$1"
    shown=yes
  else
    printf '  %s\n' "$1"
  fi
}

shown=
wipe() {
  [ -z "$shown" ] || printf '\r%50s\r' ''
  shown=
}

{
  "$go" build -v "$@" 2>&1
  echo $? >"$kept/status"
} | said >&2
exit "$(cat "$kept/status" 2>/dev/null || echo 1)"
