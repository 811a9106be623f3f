package worker

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// authority signs certificates for a test.
type authority struct {
	*testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	path string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{T: t, dir: t.TempDir()}
	a.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	a.path, _ = a.sign("ca", a.cert)
	return a
}

// sign writes a certificate and its key, signed by the authority; the first is
// the authority's own.
func (a *authority) sign(name string, c *x509.Certificate) (certPath, keyPath string) {
	a.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.Fatal(err)
	}
	if a.key == nil {
		a.key = key
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, a.cert, key.Public(), a.key)
	if err != nil {
		a.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.Fatal(err)
	}
	return a.write(name+".pem", "CERTIFICATE", raw), a.write(name+".key", "PRIVATE KEY", secret)
}

func (a *authority) write(name, kind string, raw []byte) string {
	a.Helper()
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o600); err != nil {
		a.Fatal(err)
	}
	return path
}

// leaf is a certificate for names, good until an hour from now or ended ago.
func leaf(ended time.Duration, names ...string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: names, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-100 * time.Hour), NotAfter: time.Now().Add(time.Hour - ended),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
}

// cloud is a frontend that asks for an API key and has one namespace.
type cloud struct {
	workflowservice.UnimplementedWorkflowServiceServer
	key string
}

func (c cloud) GetSystemInfo(ctx context.Context, _ *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, c.admit(ctx)
}

func (c cloud) DescribeNamespace(ctx context.Context, r *workflowservice.DescribeNamespaceRequest) (*workflowservice.DescribeNamespaceResponse, error) {
	if r.GetNamespace() != "ours" {
		return nil, serviceerror.ToStatus(serviceerror.NewNamespaceNotFound(r.GetNamespace())).Err()
	}
	return &workflowservice.DescribeNamespaceResponse{}, c.admit(ctx)
}

func (c cloud) admit(ctx context.Context) error {
	md, _ := metadata.FromIncomingContext(ctx)
	if got := strings.Join(md.Get("authorization"), ","); c.key != "" && got != "Bearer "+c.key {
		return status.Error(codes.PermissionDenied, "Request unauthorized.")
	}
	return nil
}

func serveFrontend(t *testing.T, c cloud, o ...grpc.ServerOption) string {
	t.Helper()
	l := listen(t)
	s := grpc.NewServer(o...)
	workflowservice.RegisterWorkflowServiceServer(s, c)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Stop()
		<-done
	})
	return l.Addr().String()
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func over(t *testing.T, certPath, keyPath string, clients *x509.CertPool) grpc.ServerOption {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(certPath, keyPath)
	if err != nil {
		t.Fatal(err)
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	if clients != nil {
		c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, clients
	}
	return grpc.Creds(credentials.NewTLS(c))
}

func TestAConnectionWorksOrSaysInOneSentenceWhyNot(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	pool := x509.NewCertPool()
	pool.AddCert(parsed(t, a.path))
	good, goodKey := a.sign("good", leaf(0, "temporal.example"))
	old, oldKey := a.sign("old", leaf(2*time.Hour, "temporal.example"))
	mine, mineKey := a.sign("mine", leaf(0))
	secure := serveFrontend(t, cloud{key: "secret"}, over(t, good, goodKey, nil))
	expired := serveFrontend(t, cloud{}, over(t, old, oldKey, nil))
	mutual := serveFrontend(t, cloud{}, over(t, good, goodKey, pool))
	plain := serveFrontend(t, cloud{})
	nobody := closedPort(t)
	for name, c := range map[string]struct {
		o    ClientOptions
		want string // "": it works
	}{
		"plain":                  {ClientOptions{Address: plain}, ""},
		"an API key over TLS":    {ClientOptions{Address: secure, APIKey: "secret", CAPath: a.path}, ""},
		"a name of its own":      {ClientOptions{Address: secure, APIKey: "secret", CAPath: a.path, ServerName: "temporal.example"}, ""},
		"mutual TLS":             {ClientOptions{Address: mutual, CAPath: a.path, CertPath: mine, KeyPath: mineKey}, ""},
		"another API key":        {ClientOptions{Address: secure, APIKey: "another", CAPath: a.path}, "does not let us into the namespace ours"},
		"no API key":             {ClientOptions{Address: secure, CAPath: a.path}, "TEMPORAL_API_KEY"},
		"an API key implies TLS": {ClientOptions{Address: plain, APIKey: "secret"}, "does not speak TLS"},
		"an unknown authority":   {ClientOptions{Address: secure, TLS: true}, "TEMPORAL_TLS_SERVER_CA_CERT_PATH"},
		"another name":           {ClientOptions{Address: secure, CAPath: a.path, ServerName: "other.example"}, "TEMPORAL_TLS_SERVER_NAME"},
		"an expired server":      {ClientOptions{Address: expired, CAPath: a.path}, "not valid today"},
		"TLS is wanted":          {ClientOptions{Address: secure}, "TEMPORAL_TLS=true"},
		"a certificate is":       {ClientOptions{Address: mutual, CAPath: a.path}, "TEMPORAL_TLS_CLIENT_CERT_PATH"},
		"no namespace":           {ClientOptions{Address: plain, Namespace: "theirs"}, "has no namespace theirs"},
		"nobody there":           {ClientOptions{Address: nobody}, "cannot be reached; check TEMPORAL_ADDRESS"},
		"no such file":           {ClientOptions{Address: plain, CAPath: filepath.Join(a.dir, "none")}, "cannot be read"},
		"no authority in it":     {ClientOptions{Address: plain, CAPath: goodKey}, "no certificate"},
		"a key of another":       {ClientOptions{Address: plain, CertPath: mine, KeyPath: goodKey}, "cannot be used"},
		"an expired client":      {ClientOptions{Address: plain, CertPath: old, KeyPath: oldKey}, "has expired on"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.o.Namespace == "" {
				c.o.Namespace = "ours"
			}
			conn, err := Dial(t.Context(), c.o)
			if conn != nil {
				conn.Close()
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("it gives %v, want %q", err, c.want)
			}
			if err != nil && (strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "secret")) {
				t.Errorf("it says %q; want one line without the key", err)
			}
		})
	}
}

func parsed(t *testing.T, path string) *x509.Certificate {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(raw)
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // nobody is to answer there
	return l.Addr().String()
}
