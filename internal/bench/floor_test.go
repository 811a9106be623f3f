package bench

import (
	"testing"

	"liminal/internal/wire/devserver"
)

func TestFloorIsMeasured(t *testing.T) {
	s, err := devserver.Start(t.Context(), devserver.Options{Dir: t.TempDir(), Frontend: "127.0.0.1:0", UI: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	p, err := floor(t.Context(), s.Address(), s.Namespace(), quick())
	t.Logf("%+v %v", p, err)
}
