// Package lane_test runs the scripts that build the servers of the production
// lane, on machines that are played: apt-get, dpkg-deb and ldd are stand-ins,
// so nothing is downloaded and what is installed is the test's to say.
//
// It imports the standard library only.
package lane_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// limit bounds one run of a script.
const limit = 2 * time.Minute

// standIns are the programs a machine is played with. apt-get notes what it is
// asked for in $LOG; a package is a file whose name says what unpacking makes.
var standIns = map[string]string{
	"apt-get": `
echo "$*" >>"$LOG"
case $1 in
  download) shift 2; for p in "$@"; do : >"$p.deb"; done ;;
  source) cp "$FIXTURES/pgvector_1.orig.tar.gz" . ;;
esac`,
	"apt-cache": `
case "$*" in
  'depends postgresql') echo '  Depends: postgresql-15' ;;
  *) printf 'redis-server\n  Depends: libc6\nlibc6\nlibone1\nlibtwo1\n' ;;
esac`,
	"dpkg-deb": `
program() { mkdir -p "$prefix/$(dirname "$1")"; printf '#!/bin/sh\n' >"$prefix/$1"; chmod +x "$prefix/$1"; }
prefix=$3
case $(basename "$2" .deb) in
  redis-server) program usr/bin/redis-server ;;
  redis-tools) program usr/bin/redis-cli ;;
  postgresql-15) program usr/lib/postgresql/15/bin/postgres
    mkdir -p "$prefix/usr/lib/postgresql/15/lib" "$prefix/usr/share/postgresql/15/extension" ;;
  postgresql-client-15) program usr/lib/postgresql/15/bin/psql ;;
  pgbouncer) program usr/sbin/pgbouncer ;;
  postgresql-server-dev-15 | libpq-dev) mkdir -p "$prefix/usr/include/postgresql/15/server" ;;
  lib*) mkdir -p "$prefix/usr/lib/x86_64-linux-gnu"; : >"$prefix/usr/lib/x86_64-linux-gnu/$(basename "$2" .deb).so" ;;
esac`,
	// A program needs one library, which is installed or was unpacked.
	"ldd": `
IFS=:
for at in $LD_LIBRARY_PATH; do [ ! -e "$at/libone1.so" ] || exit 0; done
[ -e "$INSTALLED" ] || echo '	libone.so.1 => not found'`,
	"gcc": `
while [ $# -gt 0 ]; do [ "$1" != -o ] || : >"$2"; shift; done`,
}

// machine is a played machine with a folder that things are built in.
type machine struct {
	t                   *testing.T
	dir, log, installed string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	dir := t.TempDir()
	m := &machine{t: t, dir: dir, log: filepath.Join(dir, "log"), installed: filepath.Join(dir, "installed")}
	for name, body := range standIns {
		m.write("bin/"+name, "#!/bin/bash\nset -eu"+body+"\n", 0o700)
	}
	for _, name := range []string{"vector.control", "sql/vector.sql", "sql/vector--1--2.sql", "src/vector.c"} {
		m.write("source/pgvector-1/"+name, "default_version = '2'\n", 0o600)
	}
	pack := exec.CommandContext(t.Context(), "tar", "czf", filepath.Join(dir, "pgvector_1.orig.tar.gz"), "-C", filepath.Join(dir, "source"), "pgvector-1")
	if out, err := pack.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return m
}

func (m *machine) write(name, text string, mode os.FileMode) {
	m.t.Helper()
	path := filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		m.t.Fatal(err)
	}
}

// hasEverything installs all libraries, or removes them.
func (m *machine) hasEverything(yes bool) {
	m.t.Helper()
	if yes {
		m.write("installed", "", 0o600)
	} else if err := os.Remove(m.installed); err != nil {
		m.t.Fatal(err)
	}
}

// run runs a script on the machine, and returns what apt was asked for.
func (m *machine) run(argv ...string) (output, asked string) {
	m.t.Helper()
	_ = os.Remove(m.log) // there is none before the first run
	ctx, cancel := context.WithTimeout(m.t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(m.dir, "bin")+":"+os.Getenv("PATH"), "LOG="+m.log, "INSTALLED="+m.installed,
		"FIXTURES="+m.dir, "LD_LIBRARY_PATH=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	raw, _ := os.ReadFile(m.log) // none: apt was not asked
	return string(out), string(raw)
}

// build runs a script that builds below a prefix.
func (m *machine) build(script string) (asked string) {
	m.t.Helper()
	_, asked = m.run("./"+script, filepath.Join(m.dir, "built"))
	return asked
}

// libraries are the folders the built programs would be started with.
func (m *machine) libraries() string {
	m.t.Helper()
	out, _ := m.run("bash", "-euo", "pipefail", "-c", `. ./packages.sh; at=$(libraries "$1"); echo "$at"`, "-", filepath.Join(m.dir, "built"))
	return strings.TrimSpace(out)
}

func TestTheLaneIsBuiltWhereNothingIsInstalled(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"redis.sh", "postgres.sh"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			if asked := m.build(script); !strings.Contains(asked, "libone1") || strings.Contains(asked, "libc6") {
				t.Errorf("apt was asked for\n%s", asked)
			}
			if at := m.libraries(); !strings.HasSuffix(at, "/usr/lib/x86_64-linux-gnu") {
				t.Errorf("programs would look for libraries in %q", at)
			}
			if asked := m.build(script); asked != "" {
				t.Errorf("the second time apt was asked for\n%s", asked)
			}
		})
	}
}

func TestTheLaneIsBuiltWhereEverythingIsInstalled(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"redis.sh", "postgres.sh"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.hasEverything(true)
			if asked := m.build(script); !strings.Contains(asked, "download") || strings.Contains(asked, "libone1") {
				t.Errorf("apt was asked for\n%s", asked)
			}
			if at := m.libraries(); at != "" {
				t.Errorf("programs would look for libraries in %q", at)
			}
			if script == "redis.sh" { // what starts and stops the server looks for its libraries too
				m.run("./redis.sh", filepath.Join(m.dir, "built"), "stop", filepath.Join(m.dir, "server"))
			}
			if asked := m.build(script); asked != "" {
				t.Errorf("the second time apt was asked for\n%s", asked)
			}
			m.hasEverything(false)
			if asked := m.build(script); !strings.Contains(asked, "libone1") {
				t.Errorf("after the libraries were removed, apt was asked for\n%s", asked)
			}
		})
	}
}
