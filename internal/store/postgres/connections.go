package postgres

// Connections is how many of the pool's connections are in use, how many are
// idle, and how many there may be (OBS-01).
func (db *DB) Connections() (used, idle, most int) {
	s := db.pool.Stat()
	return int(s.AcquiredConns()), int(s.IdleConns()), int(s.MaxConns())
}
