package worker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/api/proxy"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// intercept encodes every request and decodes every answer. It stands around
// the calls and not inside a data converter, because there it would work
// within workflow code: it would store large values again at each replay, and
// a store that is down for a moment would fail the run. Here it fails the
// call, which is tried again.
//
// The request is copied: what the SDK holds on to stays readable, and a call
// that is tried again is not encoded twice.
func (c *Codec) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if m, ok := req.(proto.Message); ok {
		of := about(req)
		if of != "" || !c.leaves(proto.Size(m)) {
			m = proto.Clone(m)
			if err := c.outbound(ctx, m, of); err != nil {
				return err
			}
			req = m
		}
	}
	return c.failures(ctx, method, req, reply, cc, func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, opts ...grpc.CallOption) error {
		return c.payloads(ctx, method, req, reply, cc, invoker, opts...)
	}, opts...)
}

// decoders makes what decodes answers and errors: payloads, then failures, whose
// text is in one.
func (c *Codec) decoders() (err error) {
	c.payloads, err = proxy.NewPayloadVisitorInterceptor(proxy.PayloadVisitorInterceptorOptions{
		Inbound: &proxy.VisitPayloadsOptions{Visitor: c.decodeAll, SkipSearchAttributes: true},
	})
	if err != nil {
		return err
	}
	var failures proxy.FailureVisitorInterceptorOptions
	if len(c.keys) > 0 || c.runs != nil {
		failures.Inbound = &proxy.VisitFailuresOptions{Visitor: readable}
	}
	c.failures, err = proxy.NewFailureVisitorInterceptor(failures)
	return err
}

func (c *Codec) outbound(ctx context.Context, m proto.Message, of string) error {
	if of != "" {
		ctx = context.WithValue(ctx, sealedFor{}, of)
	}
	if len(c.keys) > 0 || of != "" {
		if err := proxy.VisitFailures(ctx, m, proxy.VisitFailuresOptions{Visitor: secret}); err != nil {
			return err
		}
	}
	return proxy.VisitPayloads(ctx, m, proxy.VisitPayloadsOptions{Visitor: c.encodeAll, SkipSearchAttributes: true})
}

func (c *Codec) encodeAll(ctx *proxy.VisitPayloadsContext, list []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return each(list, func(p *commonpb.Payload) (*commonpb.Payload, error) { return c.encode(ctx, p) })
}

func (c *Codec) decodeAll(ctx *proxy.VisitPayloadsContext, list []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return each(list, func(p *commonpb.Payload) (*commonpb.Payload, error) { return c.decode(ctx, p) })
}

// secret moves a failure's message and stack into a payload, which is encoded
// like any other: they may quote what a person wrote.
func secret(_ *proxy.VisitFailuresContext, f *failurepb.Failure) error {
	return converter.EncodeCommonFailureAttributes(converter.GetDefaultDataConverter(), f)
}

func readable(_ *proxy.VisitFailuresContext, f *failurepb.Failure) error {
	converter.DecodeCommonFailureAttributes(converter.GetDefaultDataConverter(), f)
	return nil
}

// maxInflated bounds, in bytes, what one value may grow to.
const maxInflated = 256 << 20

// writers are kept for the next value: to make one costs more than to compress
// a few KB with it.
var writers = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.BestSpeed) // the level is a known one
	return w
}}

// deflate appends raw, compressed, to head.
func deflate(head, raw []byte) ([]byte, error) {
	out := bytes.NewBuffer(head)
	w := writers.Get().(*flate.Writer)
	defer writers.Put(w)
	w.Reset(out)
	if _, err := w.Write(raw); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func inflate(small []byte) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(small)), maxInflated+1))
	if err == nil && len(raw) > maxInflated {
		err = errors.New("it grows without end")
	}
	return raw, err
}
