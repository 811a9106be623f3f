package postgres

import (
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestVersionsAreComparedAsNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version string
		old     bool
	}{
		{"0.8.1", true}, {"0.8.2", false}, {"0.8.10", false}, {"0.10.0", false}, {"0.8", true}, {"1", false}, {"", false},
	} {
		if got := (Report{Vector: c.version}).VectorIsOld(); got != c.old {
			t.Errorf("%q is old: %t", c.version, got)
		}
	}
}

func TestProbeSaysInOneSentenceWhatIsWrongWithoutThePassword(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close() // a port nobody listens on
	for _, url := range []string{
		"postgres://me:hunter2@" + l.Addr().String() + "/db?sslmode=disable",
		"postgres://me:hunter2@h:nan/db",
	} {
		_, err := Probe(t.Context(), url)
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v", err)
		}
	}
}

// Requirements: OPS-13
func TestBehindATransactionPoolerNoStatementHasAName(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]pgx.QueryExecMode{
		"postgres://u@h:5432/d":                                         pgx.QueryExecModeCacheStatement,
		"postgres://u@h:6543/d":                                         pgx.QueryExecModeCacheDescribe,
		"postgres://u@h:5432/d?default_query_exec_mode=exec":            pgx.QueryExecModeCacheDescribe,
		"postgres://u@h:5432/d?default_query_exec_mode=simple_protocol": pgx.QueryExecModeCacheDescribe,
		"postgres://u@h:6543/d?default_query_exec_mode=describe_exec":   pgx.QueryExecModeDescribeExec,
	} {
		conf, err := poolConfig(url, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := conf.ConnConfig.DefaultQueryExecMode; got != want {
			t.Errorf("%s is spoken to in mode %v, want %v", url, got, want)
		}
	}
}
