package redis

// Connections is how many connections for commands are in use, how many are
// idle, and how many there may be (OBS-01).
func (m *Memory) Connections() (used, idle, most int) {
	s := m.client.PoolStats()
	return int(s.TotalConns) - int(s.IdleConns), int(s.IdleConns), m.client.Options().PoolSize
}
