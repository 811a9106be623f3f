package postgres_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"liminal/internal/store"
	"liminal/internal/store/postgres"
	"liminal/internal/store/postgres/postgrestest"
	"liminal/internal/store/storetest"
)

// program is where scripts/lane/postgres.sh has unpacked a program, and where
// its libraries are.
func program(t testing.TB, path string) (binary, libraries string) {
	t.Helper()
	for _, root := range []string{os.Getenv("LANE_ROOT") + "/postgres", "../../../.cache/lane/postgres", "/var/tmp/liminal-lane-*/postgres"} {
		found, err := filepath.Glob(root + path)
		if err != nil || len(found) == 0 {
			continue
		}
		prefix, err := filepath.Glob(root)
		if err != nil {
			t.Fatal(err)
		}
		libs, err := filepath.Glob(prefix[0] + "/usr/lib/*-linux-gnu*")
		if err != nil {
			t.Fatal(err)
		}
		absolute, err := filepath.Abs(found[0])
		if err != nil {
			t.Fatal(err)
		}
		return absolute, strings.Join(libs, ":")
	}
	if storetest.Required() {
		t.Fatalf("there is no %s: run scripts/lane/postgres.sh .cache/lane/postgres, or name the lane's folder in LANE_ROOT", path)
	}
	t.Skipf("SKIPPED, NOT PASSED: there is no %s; run scripts/lane/postgres.sh .cache/lane/postgres", path)
	return "", ""
}

// pooled starts a transaction pooler with two connections to the server and
// returns a connection string through it.
func pooled(t testing.TB, to string) string {
	t.Helper()
	binary, libraries := program(t, "/usr/sbin/pgbouncer")
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "pgbouncer") // t.TempDir's is closed to the user nobody
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	host, port, err := net.SplitHostPort(ownAddress())
	if err != nil {
		t.Fatal(err)
	}
	conf := fmt.Sprintf("[databases]\n* = host=%s port=%s user=%s\n[pgbouncer]\nlisten_addr = %s\nlisten_port = %s\nunix_socket_dir =\n"+
		"auth_type = any\npool_mode = transaction\ndefault_pool_size = 2\nmax_client_conn = 200\nlogfile = %s/log\n", u.Hostname(), u.Port(), u.User.Username(), host, port, dir)
	if err := os.WriteFile(dir+"/conf", []byte(conf), 0o644); err != nil { //nolint:gosec // nobody reads it
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), binary, "-q", dir+"/conf")
	c.Env = append(os.Environ(), "LD_LIBRARY_PATH="+libraries)
	if os.Getuid() == 0 { // it refuses to run as root
		const nobody = 65534
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // nobody enters it
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	u.Host = net.JoinHostPort(host, port)
	listens(t, u.Host)
	u.RawQuery += "&default_query_exec_mode=exec"
	return u.String()
}

// ownAddress is one of the loopback's that nobody else has: a port of 127.0.0.1
// that is free now, or was just given back, could be somebody else's before it is
// listened on.
func ownAddress() string {
	return fmt.Sprintf("127.%d.%d.%d:15432", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
}

// listens waits until a program answers on an address.
func listens(t testing.TB, address string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func openPooled(t testing.TB, o store.Options) storetest.Backend {
	t.Helper()
	db := postgrestest.Open(t, pooled(t, postgrestest.New(t).App), postgres.Options{})
	return storetest.Backend{Store: store.New(db, o), Index: postgres.NewIndex(db, postgres.IndexOptions{})}
}

// Requirements: OPS-13
func TestEverythingWorksThroughATransactionPooler(t *testing.T) {
	t.Parallel()
	t.Run("turns", func(t *testing.T) { t.Parallel(); storetest.Turns(t, openPooled) })
	t.Run("index", func(t *testing.T) { t.Parallel(); storetest.Index(t, openPooled) })
	t.Run("isolation", func(t *testing.T) { t.Parallel(); storetest.Isolation(t, openPooled) })
}
