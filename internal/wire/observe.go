package wire

import (
	"context"

	"go.temporal.io/sdk/interceptor"
)

// eyes are what a platform is watched with.
type eyes struct{}

// observe opens metrics and traces, and looks over the model's shoulder.
func (p *Platform) observe(context.Context, *Options) error { return nil }

// interceptors carry a trace through Temporal.
func (p *Platform) interceptors() ([]interceptor.ClientInterceptor, error) { return nil, nil }
