package redis

import "testing"

func TestThePoolTellsOfItsConnections(t *testing.T) {
	t.Parallel()
	if used, idle, most := open(t, Options{}).Connections(); used < 0 || idle < 0 || idle+used > most || most < 1 {
		t.Errorf("%d are used, %d idle, of %d", used, idle, most)
	}
}
