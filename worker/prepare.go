package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"liminal/workflows"
)

// prepareLimit bounds how long the frontend may take to know new attributes.
const prepareLimit = 30 * time.Second

// Prepare registers the search attributes of runs in a namespace that lacks
// them, and returns when runs can be started with them. Any number of processes
// may do so at once. Where we may not register, as in Temporal Cloud, the
// error names what to create.
func Prepare(ctx context.Context, c client.Client, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, prepareLimit)
	defer cancel()
	absent, err := absentAttributes(ctx, c, namespace)
	if err != nil || len(absent) == 0 {
		return err
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: absent,
	})
	if _, there := errors.AsType[*serviceerror.AlreadyExists](err); err != nil && !there {
		return fmt.Errorf("the Temporal namespace %s lacks search attributes that this program may not create; create %s: %w", namespace, spoken(absent), err)
	}
	return known(ctx, c, namespace)
}

// absentAttributes are those of ours that the namespace does not have. One of
// another type is an error: nobody may change it while runs carry it.
func absentAttributes(ctx context.Context, c client.Client, namespace string) (map[string]enumspb.IndexedValueType, error) {
	var there map[string]enumspb.IndexedValueType
	all, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	switch {
	case err == nil:
		there = all.GetCustomAttributes()
	case !refused(err):
		return nil, fmt.Errorf("the search attributes of the Temporal namespace %s cannot be listed: %w", namespace, err)
	case knows(ctx, c, namespace) == nil:
		return nil, nil // we may not list them, and they are there
	default: // we may not list them, and some are missing
	}
	absent := map[string]enumspb.IndexedValueType{}
	for _, a := range workflows.Attributes() {
		kind, found := there[a.GetName()]
		if found && kind != a.GetValueType() {
			return nil, fmt.Errorf("the search attribute %s of the Temporal namespace %s has the type %s; this program needs %s", a.GetName(), namespace, kind, a.GetValueType())
		}
		if !found {
			absent[a.GetName()] = a.GetValueType()
		}
	}
	return absent, nil
}

// refused reports whether a server does not let us use its operator service,
// or has none for us.
func refused(err error) bool {
	_, denied := errors.AsType[*serviceerror.PermissionDenied](err)
	_, none := errors.AsType[*serviceerror.Unimplemented](err)
	return denied || none || status.Code(err) == codes.Unauthenticated
}

// known waits until the frontend knows every attribute: it learns of new ones
// with a delay of seconds.
func known(ctx context.Context, c client.Client, namespace string) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := knows(ctx, c, namespace)
		if _, unknown := errors.AsType[*serviceerror.InvalidArgument](err); !unknown {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the Temporal namespace %s does not know its new search attributes yet; start again: %w", namespace, err)
		}
	}
}

// knows asks once: a query with an attribute that is not known is refused.
func knows(ctx context.Context, c client.Client, namespace string) error {
	var terms []string
	for _, a := range workflows.Attributes() {
		terms = append(terms, a.GetName()+" IS NOT NULL")
	}
	_, err := c.WorkflowService().CountWorkflowExecutions(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: namespace, Query: strings.Join(terms, " AND "),
	})
	return err
}

// spoken lists attributes as a person would create them.
func spoken(absent map[string]enumspb.IndexedValueType) string {
	var names []string
	for name, kind := range absent {
		names = append(names, name+" ("+kind.String()+")")
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
