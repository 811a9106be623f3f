package postgres_test

import "testing"

func TestThePoolTellsOfItsConnections(t *testing.T) {
	t.Parallel()
	db, _ := openDB(t)
	if used, idle, most := db.Connections(); used < 0 || idle+used > most || most < 1 {
		t.Errorf("%d are used, %d idle, of %d", used, idle, most)
	}
}
