package record

import (
	"strings"
	"sync"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/id"
	"liminal/internal/run"
	"liminal/worker"
)

// freshNamespace registers one, as an operator does, and connects to it.
func freshNamespace(t *testing.T) (client.Client, string) {
	t.Helper()
	name := "fresh-" + id.New()
	_, err := dial(t, nil).WorkflowService().RegisterNamespace(t.Context(), &workflowservice.RegisterNamespaceRequest{
		Namespace: name, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(deadline)
	for {
		c, err := worker.Dial(t.Context(), worker.ClientOptions{Address: server.Address(), Namespace: name})
		if err == nil {
			t.Cleanup(c.Close)
			return c, name
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond) // the frontend learns of it with a delay
	}
}

func TestAFreshNamespaceIsPreparedByManyAtOnceAndTakesRuns(t *testing.T) {
	t.Parallel()
	c, name := freshNamespace(t)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if err := worker.Prepare(t.Context(), c, name); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s := emptyStage(t, activitiestest.New(asking).Tool("llm", model, echo), nil)
	s.client = c
	s.work()
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.until(r.ID, run.Waiting)
	s.answer(0, run.Answer{Type: "text_input", Value: "x"})
	s.until(r.ID, run.Done)
}

func TestAnAttributeOfAnotherTypeIsToldBeforeTheFirstRun(t *testing.T) {
	t.Parallel()
	c, name := freshNamespace(t)
	_, err := c.OperatorService().AddSearchAttributes(t.Context(), &operatorservice.AddSearchAttributesRequest{
		Namespace: name, SearchAttributes: map[string]enumspb.IndexedValueType{"liminal_version": enumspb.INDEXED_VALUE_TYPE_KEYWORD},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.Prepare(t.Context(), c, name); err == nil || !strings.Contains(err.Error(), "liminal_version") {
		t.Errorf("it gives %v", err)
	}
}
