package wire

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"

	"go.temporal.io/sdk/interceptor"

	"liminal/internal/model/observed"
	"liminal/internal/telemetry"
)

// observability is what a platform is watched with.
type observability struct {
	metrics *telemetry.Metrics
	traces  *telemetry.Traces // nil: nobody collects them
	vitals  *telemetry.Vitals
	prices  observed.Prices
}

// observe opens metrics and traces, and counts what the model is asked.
func (p *Platform) observe(ctx context.Context, o *Options) (err error) {
	p.metrics = telemetry.NewMetrics(o.Version)
	p.traces, err = telemetry.OpenTraces(ctx, telemetry.TraceOptions{
		Endpoint: o.Config.Traces.Endpoint, Service: o.Config.Traces.Service, Version: o.Version,
	})
	if err != nil {
		return err
	}
	p.closers = append(p.closers, closer{"traces", p.traces.Close})
	prices, err := prices(o.Config.Model.Prices)
	if err != nil {
		return err
	}
	p.prices = prices
	o.Model = observed.New(o.Model, observed.Options{
		Provider: o.Config.Model.Backend, Prices: prices, Metrics: p.metrics, Logger: o.Logger,
	})
	return nil
}

// prices are what models cost: the shipped ones, and over them a file's.
func prices(path string) (observed.Prices, error) {
	if path == "" {
		return observed.ReadPrices(nil)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("LIMINAL_PRICES: %w", err)
	}
	return observed.ReadPrices(raw)
}

// interceptors carry a trace through Temporal. They are the worker's too.
func (p *Platform) interceptors() ([]interceptor.ClientInterceptor, error) {
	i, err := p.traces.Interceptor()
	if err != nil || i == nil {
		return nil, err
	}
	return []interceptor.ClientInterceptor{i}, nil
}

// measurable answers /metrics for callers on this machine, beside what h does:
// figures tell a stranger more than they should know.
func (p *Platform) measurable(h http.Handler) http.Handler {
	metrics := p.metrics.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" && near(r) {
			metrics.ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// near reports whether a request comes from this machine, means it, and was not
// passed on for somebody else: a page whose name was made to lead here still
// asks for that name, and a proxy says so in one of many ways.
func near(r *http.Request) bool {
	for _, passed := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Forwarded", "Via"} {
		if len(r.Header.Values(passed)) > 0 {
			return false
		}
	}
	return loopback(r.RemoteAddr) && loopback(r.Host)
}

// loopback reports whether host, with or without a port, is this machine.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
