package worker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// dialLimit bounds how long a frontend is waited for.
const dialLimit = 10 * time.Second

// ClientOptions are how a platform connects to a Temporal frontend. Address
// and Namespace are required.
type ClientOptions struct {
	// Address is the host:port of the frontend, Namespace that of every run.
	Address, Namespace string
	// TLS turns TLS on; any of the fields below does so by itself.
	TLS bool
	// CertPath and KeyPath are PEM files of this client's certificate, for
	// mTLS; both or none.
	CertPath, KeyPath string
	// CAPath is a PEM file of the authority that signed the server's
	// certificate; empty: those this machine trusts.
	CAPath string
	// ServerName is the name the server's certificate is checked for; empty:
	// the host of Address.
	ServerName string
	// APIKey authenticates to Temporal Cloud.
	APIKey string
	// Codec makes what a history holds small and secret; nil leaves it as it is.
	Codec *Codec
	// Interceptors stand around calls, such as those of tracing.
	Interceptors []interceptor.ClientInterceptor
	// Meter is told what the SDK knows of the work that waits; nil: nobody.
	Meter  Meter
	Logger *slog.Logger
}

// Dial connects to a Temporal frontend and proves that its namespace is there
// and open to us. The error is one sentence: what is wrong and what to do.
func Dial(ctx context.Context, o ClientOptions) (client.Client, error) {
	secure, err := o.tls()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	c, err := client.DialContext(ctx, o.sdk(secure))
	if err == nil {
		_, err = c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: o.Namespace})
	}
	if err == nil {
		return c, nil
	}
	if c != nil {
		c.Close()
	}
	return nil, o.explain(context.WithoutCancel(ctx), secure, err)
}

// sdk are the options as the SDK takes them. On this machine messages are not
// compressed: it costs more than it saves.
func (o ClientOptions) sdk(secure *tls.Config) client.Options {
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := client.Options{
		HostPort: o.Address, Namespace: o.Namespace, Interceptors: o.Interceptors,
		Logger: sdklog.NewStructuredLogger(log),
	}
	if o.Meter != nil {
		s.MetricsHandler = measured{meter: o.Meter}
	}
	s.ConnectionOptions.TLS = secure
	s.ConnectionOptions.GetSystemInfoTimeout = dialLimit // the SDK's own limit is half of it
	if onThisMachine(o.Address) {
		s.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	}
	if o.APIKey != "" {
		s.Credentials = client.NewAPIKeyStaticCredentials(o.APIKey)
	}
	if o.Codec != nil {
		s.ConnectionOptions.DialOptions = []grpc.DialOption{grpc.WithChainUnaryInterceptor(o.Codec.intercept)}
	}
	return s
}

// tls is the TLS of a connection; nil for none.
func (o ClientOptions) tls() (*tls.Config, error) {
	if !o.TLS && o.APIKey == "" && o.CertPath == "" && o.CAPath == "" && o.ServerName == "" {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: o.ServerName}
	if o.CertPath != "" || o.KeyPath != "" {
		pair, err := tls.LoadX509KeyPair(o.CertPath, o.KeyPath)
		if err != nil {
			return nil, fmt.Errorf("the client certificate %s with the key %s cannot be used: %w", o.CertPath, o.KeyPath, err)
		}
		if ends := pair.Leaf.NotAfter; time.Now().After(ends) {
			return nil, fmt.Errorf("the client certificate %s has expired on %s; ask for a new one", o.CertPath, ends.Format(time.DateOnly))
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if o.CAPath == "" {
		return c, nil
	}
	pem, err := os.ReadFile(o.CAPath)
	if err != nil {
		return nil, fmt.Errorf("the authority of the Temporal server cannot be read: %w", err)
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate in PEM form", o.CAPath)
	}
	return c, nil
}

// explain says in one sentence why a connection failed.
func (o ClientOptions) explain(ctx context.Context, secure *tls.Config, err error) error {
	missing, _ := errors.AsType[*serviceerror.NamespaceNotFound](err)
	denied, _ := errors.AsType[*serviceerror.PermissionDenied](err)
	switch {
	case missing != nil:
		return fmt.Errorf("the Temporal server at %s has no namespace %s; create it, or set TEMPORAL_NAMESPACE", o.Address, o.Namespace)
	case denied != nil, status.Code(err) == codes.Unauthenticated:
		return fmt.Errorf("the Temporal server at %s does not let us into the namespace %s; check TEMPORAL_API_KEY or the client certificate: %w", o.Address, o.Namespace, err)
	}
	if better := o.probe(ctx, secure); better != nil {
		return better
	}
	if secure == nil {
		return fmt.Errorf("what listens at %s does not answer as a Temporal server; it may want TLS (TEMPORAL_TLS=true): %w", o.Address, err)
	}
	return fmt.Errorf("the Temporal server at %s ended the connection; it may want another client certificate (TEMPORAL_TLS_CLIENT_CERT_PATH): %w", o.Address, err)
}

// probe connects once more by hand: gRPC tells a refused certificate from a
// wrong address only in prose. nil: the connection itself is fine.
func (o ClientOptions) probe(ctx context.Context, secure *tls.Config) error {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", o.Address)
	if err != nil {
		return fmt.Errorf("the Temporal server at %s cannot be reached; check TEMPORAL_ADDRESS: %w", o.Address, err)
	}
	defer func() { _ = conn.Close() }() // nothing was written
	if secure == nil {
		return nil
	}
	secure = secure.Clone()
	secure.NextProtos = []string{"h2"}
	if secure.ServerName == "" {
		secure.ServerName, _, _ = net.SplitHostPort(o.Address) // it was dialled just now
	}
	return o.handshake(tls.Client(conn, secure).HandshakeContext(ctx))
}

func (o ClientOptions) handshake(err error) error {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var plain tls.RecordHeaderError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &authority):
		return fmt.Errorf("the certificate of the Temporal server at %s is signed by an authority this machine does not trust; name it in TEMPORAL_TLS_SERVER_CA_CERT_PATH", o.Address)
	case errors.As(err, &name):
		return fmt.Errorf("the certificate of the Temporal server at %s is for another name; set TEMPORAL_TLS_SERVER_NAME: %w", o.Address, err)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Errorf("the certificate of the Temporal server at %s is not valid today: %w", o.Address, err)
	case errors.As(err, &plain):
		return fmt.Errorf("the Temporal server at %s does not speak TLS; unset TEMPORAL_TLS, or check TEMPORAL_ADDRESS", o.Address)
	default:
		return fmt.Errorf("the TLS connection to the Temporal server at %s failed: %w", o.Address, err)
	}
}

func onThisMachine(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
