#!/usr/bin/env bash
# The container image, for real: Podman builds it from deploy/container, and the
# tests of e2e run it as deploy/compose and deploy/kubernetes do, kill it and
# upgrade it. Before that, both of those are held to their schemas.
#
#   scripts/containers.sh             all of it
#   scripts/containers.sh schemas     the files of Compose and Kubernetes only
#   scripts/containers.sh podman ARG… Podman with the images kept here
#   scripts/containers.sh clean       remove what is kept
#
# Podman comes as Debian packages that are unpacked and not installed, once, below
# CONTAINERS_ROOT (default .cache/containers); the images are there too, about
# 500 MB. It works in namespaces of its own for mounts, processes and network,
# which end with it: nothing of it is seen on this machine, or stays.
#
# No registry is asked. What the Dockerfile takes from golang:1.26 is played by
# this machine's Go and Debian's busybox; its compiler's and module's caches are
# this machine's.
#
# Where this machine does not allow it, that is said on a line that begins with
# "skipped:", and the exit status is 77; or the line is written to the file that
# PROOF_SKIPPED names, and it is 0.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
GO=${GO:-go}
root=${CONTAINERS_ROOT:-$here/.cache/containers}
mkdir -p "$root"
root=$(cd "$root" && pwd)
tools=$root/tools

# What the Dockerfile builds with, as Podman writes it.
golang=docker.io/library/golang:1.26-bookworm

# What `docker compose` reads its files with, and the version of Kubernetes whose
# schemas the validator that requirements.txt names is asked for.
compose=github.com/compose-spec/compose-go/v2/cmd@v2.16.2
kubernetes=1.37

# What Podman consists of here, and what plays a part of golang:1.26.
packages=(podman conmon crun netavark iptables golang-github-containers-common busybox-static ca-certificates)

die() { echo "containers.sh: $*" >&2; exit 1; }
say() { echo "containers.sh: $*" >&2; }
# shellcheck source=scripts/lane/packages.sh
. "$here/scripts/lane/packages.sh"

# skip ends the script where the machine does not allow what it is for.
skip() {
  if [ -n "${PROOF_SKIPPED:-}" ]; then
    echo "skipped: $*" >"$PROOF_SKIPPED"
    exit 0
  fi
  echo "skipped: $*" >&2
  exit 77
}

# allowed skips unless this machine lets us make what containers are made of.
allowed() {
  local why
  [ "$(uname -s)" = Linux ] || skip "containers take Linux"
  [ "$(id -u)" = 0 ] || skip "only root may run them here; try: sudo make containers"
  why=$(unshare --mount --net --pid --fork --kill-child --mount-proc true 2>&1) ||
    skip "the kernel refuses namespaces for mounts, network and processes (${why##*$'\n'})"
  grep -qw overlay /proc/filesystems || skip "the kernel has no overlay file system"
  grep -q '^Seccomp:' /proc/self/status || skip "the kernel has no seccomp"
}

# libs names the libraries that packages depend on, and those that these do.
libs() { # PACKAGE…
  local all="$*" more
  for _ in 1 2 3 4 5; do
    # shellcheck disable=SC2086
    more=$(apt-cache depends --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances $all |
      sed -nE 's/^ *\|?Depends: (lib[a-z0-9.+-]*)$/\1/p' | grep -vE '^lib(c6|gcc-s1|stdc\+\+6|crypt1)$' | sort -u)
    all=$(printf '%s\n' $all $more | sort -u)
  done
  echo "$all" | grep '^lib'
}

# unpacked puts Podman and what it starts below $tools, or finds them there.
unpacked() {
  local stamp work
  stamp=$({ echo "${packages[*]}"; cat "$here/scripts/lane/packages.sh"; } | sha256sum | cut -c1-16)
  if [ "$(cat "$tools/.stamp" 2>/dev/null)" = "$stamp" ] && [ -z "$(missing "$tools")" ]; then return; fi
  say "unpacking Podman below $tools"
  work=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$work'" RETURN
  mkdir "$work/deb"
  (
    trap - RETURN
    private_apt "$work/apt" "$(suite)"
    cd "$work/deb"
    rm -rf "$tools.new"
    mkdir -p "$tools.new"
    unpack "$tools.new" "${packages[@]}"
    # shellcheck disable=SC2046
    [ -z "$(missing "$tools.new")" ] || unpack "$tools.new" $(libs "${packages[@]}")
  )
  [ -z "$(missing "$tools.new")" ] || die "these libraries are missing: $(missing "$tools.new" | paste -sd' ')"
  rm -rf "$tools.new/usr/share/doc" "$tools.new/usr/share/man" "$tools.new/usr/share/locale"
  echo "$stamp" >"$tools.new/.stamp"
  rm -rf "$tools"
  mv "$tools.new" "$tools"
}

# settled writes the settings of Podman, and a command `podman` that uses them.
settled() {
  local extensions
  extensions=$(echo "$tools"/usr/lib/*/xtables)
  mkdir -p "$root/bin" "$root/networks"
  cat >"$root/containers.conf" <<CONF
[containers]
cgroups = "disabled"  # what a machine makes of them differs, and nothing here is about them
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
conmon_path = ["$tools/usr/bin/conmon"]
conmon_env_vars = ["PATH=$root/bin:$tools/usr/bin:/usr/sbin:/usr/bin:/sbin:/bin", "CONTAINERS_CONF=$root/containers.conf", "CONTAINERS_STORAGE_CONF=$root/storage.conf", "XTABLES_LIBDIR=$extensions"] # it starts Podman to clean up
runtime = "crun"
helper_binaries_dir = ["$tools/usr/lib/podman"]
[engine.runtimes]
crun = ["$tools/usr/bin/crun"]
[network]
network_backend = "netavark"
network_config_dir = "$root/networks"
CONF
  printf '[storage]\ndriver = "overlay"\ngraphroot = "%s"\nrunroot = "/run/containers/storage"\n' "$root/storage" >"$root/storage.conf"
  printf 'unqualified-search-registries = ["docker.io"]\n' >"$root/registries.conf"
  ln -sf "$tools/usr/sbin/xtables-nft-multi" "$root/bin/iptables"
  ln -sf "$tools/usr/sbin/xtables-nft-multi" "$root/bin/ip6tables"
  cat >"$root/bin/podman" <<SH
#!/bin/sh
export CONTAINERS_CONF=$root/containers.conf CONTAINERS_STORAGE_CONF=$root/storage.conf CONTAINERS_REGISTRIES_CONF=$root/registries.conf
export DISABLE_HC_SYSTEMD=true BUILDAH_ISOLATION=chroot XTABLES_LIBDIR=$extensions PATH=$root/bin:$tools/usr/bin:\$PATH
exec $tools/usr/bin/podman "\$@"
SH
  chmod +x "$root/bin/podman"
  # What stands over /etc inside: Podman looks for its policy nowhere else, and
  # starts itself without any variable that would say where libraries are.
  mkdir -p "$root/etc/containers"
  cp "$tools/etc/containers/policy.json" "$root/etc/containers/"
  { cat /etc/ld.so.conf 2>/dev/null || true; libraries "$tools" | tr : '\n'; } >"$root/ld.so.conf"
  /sbin/ldconfig -X -f "$root/ld.so.conf" -C "$root/etc/ld.so.cache"
}

# inside begins what runs in namespaces of its own: nobody else's Podman is seen
# there, and state of a Podman that was ended is not.
inside() {
  mount -t tmpfs tmpfs /run
  mount -t tmpfs tmpfs /dev/shm
  umount /sys/fs/cgroup/unified 2>/dev/null || true # crun takes old cgroups or new ones, not both at once
  "$tools/bin/busybox" ip link set lo up
  mount -t overlay overlay -o "lowerdir=$root/etc:/etc" /etc
  mkdir -p /run/var/lib /run/var/work
  mount -t overlay overlay -o lowerdir=/var/lib,upperdir=/run/var/lib,workdir=/run/var/work /var/lib
  export PATH=$root/bin:$PATH
}

# golang makes what the Dockerfile's first stage begins with.
golang() {
  local base
  base=$(mktemp -d)
  mkdir -p "$base/bin" "$base/etc/ssl/certs" "$base/root" "$base/usr/local/go" "$base/go/pkg/mod"
  mkdir -m 1777 "$base/tmp"
  cp "$tools/bin/busybox" "$base/bin/"
  for name in sh mkdir cp echo; do ln -s busybox "$base/bin/$name"; done
  cat "$tools"/usr/share/ca-certificates/mozilla/*.crt >"$base/etc/ssl/certs/ca-certificates.crt"
  echo 'root:x:0:0:root:/root:/bin/sh' >"$base/etc/passwd"
  tar -C "$base" -c . | podman import --quiet --change 'ENV PATH=/usr/local/go/bin:/bin' --change 'ENV GOPATH=/go' \
    --change 'ENV GOTOOLCHAIN=local' --change 'ENV GOPROXY=off' - "$golang" >/dev/null
  rm -rf "$base"
}

# image builds the image of a folder of sources, unless there is one of the same
# key, and names it.
image() { # KEY SOURCES VERSION
  local name=localhost/liminal:$1
  if ! podman image exists "$name"; then
    say "building the image of $3"
    podman build --quiet --pull=never --layers=false --format docker \
      --volume "$("$GO" env GOROOT):/usr/local/go:ro" --volume "$("$GO" env GOMODCACHE):/go/pkg/mod" --volume "$("$GO" env GOCACHE):/root/.cache/go-build" \
      --build-arg VERSION="$3" --file "$here/deploy/container/Dockerfile" --tag "$name" "$2" >&2 || die "the image of $3 cannot be built"
  fi
  echo "$name"
}

# sources is a sum of every file that git knows, or would.
sources() {
  (cd "$here" && git ls-files -coz --exclude-standard | while IFS= read -rd '' file; do
    [ ! -f "$file" ] || printf '%s\0' "$file"
  done | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16)
}

# try runs inside: it builds both images and gives them to the tests.
try() { # PREVIOUS-COMMIT PREVIOUS-SOURCES VERSION
  local today before old why
  podman rm --all --force --time 0 >/dev/null
  podman volume prune --force >/dev/null
  golang
  why=$(podman run --rm --pull=never --publish 127.0.0.1::8080 "$golang" mkdir /tmp/x 2>&1) ||
    skip "this machine cannot run any container (${why##*$'\n'})"
  before=$(image "previous-${1:0:12}-$(sha256sum <"$here/deploy/container/Dockerfile" | cut -c1-8)" "$2" "${1:0:12}")
  today=$(image "$(sources)" "$here" "$3")
  for old in $(podman images --noheading --format '{{.Repository}}:{{.Tag}}' localhost/liminal); do
    case $old in "$today" | "$before") ;; *) podman rmi --force "$old" >/dev/null ;; esac
  done
  podman image prune --force >/dev/null
  (
    cd "$here/e2e"
    CONTAINER_PODMAN=$root/bin/podman CONTAINER_IMAGE=$today CONTAINER_PREVIOUS=$before \
      "$root/e2e.test" -test.run '^TestTheImage' -test.timeout 10m ${CONTAINERS_VERBOSE:+-test.v}
  )
}

# refuses fails unless a command does, which a schema that checks nothing does not.
refuses() {
  ! "$@" >/dev/null 2>&1 || die "a file with a mistake in it passes: $*"
}

compose() { # FILE; its variables are held to .env.example by `go test ./deploy`
  (cd "$here/deploy/compose" && "$GO" run "$compose" --no-interpolation "$1")
}

kubernetes() { # FILE…
  (cd "$here/deploy/kubernetes" && "$venv/bin/kubernetes-validate" --strict --quiet --kubernetes-version "$kubernetes" "$@")
}

# schemas holds the files of Compose and Kubernetes to those.
schemas() {
  local work stamp python=${PYTHON:-python3} venv=$root/venv
  work=$(mktemp -d)
  compose compose.yml >"$work/compose.out" || die "deploy/compose/compose.yml is not what Compose takes"
  sed 's/^    restart:/    restarts:/' "$here/deploy/compose/compose.yml" >"$work/compose.yml"
  refuses compose "$work/compose.yml"

  if "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    stamp=$({ "$python" -c 'import sys; print(sys.version, sys.prefix)'; cat "$here/scripts/containers/requirements.txt"; } | sha256sum | cut -c1-16)
    if [ "$(cat "$venv/.stamp" 2>/dev/null)" != "$stamp" ]; then
      say "installing the schemas of Kubernetes below $venv"
      rm -rf "$venv"
      "$python" -m venv "$venv"
      "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --requirement "$here/scripts/containers/requirements.txt"
      echo "$stamp" >"$venv/.stamp"
    fi
    # shellcheck disable=SC2046
    kubernetes $(cd "$here/deploy/kubernetes" && ls ./*.yaml ../train/kubernetes.yaml | grep -v kustomization) || die "deploy/kubernetes is not what Kubernetes takes"
    sed 's/containerPort:/containerPorts:/' "$here/deploy/kubernetes/server.yaml" >"$work/server.yaml"
    refuses kubernetes "$work/server.yaml"
    say "deploy/compose and deploy/kubernetes are as their schemas say"
  else
    echo "not checked: the schemas of Kubernetes (they need Python 3 with its venv module, as in: apt-get install python3-venv)"
    [ "${CI:-}" != true ] || exit 1
  fi
  rm -rf "$work"
}

case ${1:-} in
  '')
    schemas
    allowed
    unpacked
    settled
    commit=$(cat "$here/e2e/previous.txt")
    git -C "$here" cat-file -e "$commit^{commit}" 2>/dev/null || git -C "$here" fetch --quiet --unshallow 2>/dev/null ||
      die "e2e/previous.txt names $commit, which is no commit here; a shallow clone needs: git fetch --unshallow"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir "$work/previous"
    git -C "$here" archive "$commit" | tar -x -C "$work/previous"
    mkdir -p "$work/previous/internal/wire/devserver/stubs" # today's Dockerfile copies it, and that release had none
    # The images are built without a network.
    (cd "$here" && "$GO" mod download && "$GO" test -c -tags containers -o "$root/e2e.test" ./e2e)
    (cd "$work/previous" && "$GO" mod download)
    unshare --mount --net --pid --fork --kill-child --mount-proc -- "$0" inside try "$commit" "$work/previous" \
      "$(git -C "$here" describe --tags --always --dirty 2>/dev/null || echo unknown)"
    ;;
  schemas) schemas ;;
  podman)
    allowed
    unpacked
    settled
    shift
    exec unshare --mount --net --pid --fork --kill-child --mount-proc -- "$0" inside podman "$@"
    ;;
  inside) # by this script itself
    shift
    inside
    "$@"
    ;;
  clean) rm -rf "$root" ;;
  *) sed -n '2,22s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
