package grounding

// overnight notes the day after that of a row that ends before it begins.
func (e *Evidence) overnight(r int32) {
	row := &e.rows[r]
	if len(row.times) != 2 || len(row.days) != 1 {
		return
	}
	from, to := 0, 1
	if endNames[row.timed[0]] {
		from, to = 1, 0
	}
	if endNames[row.timed[to]] && row.times[to] < row.times[from] {
		next := key{form: aDay, n: int64(row.days[0]) + 1}
		e.put(r, next)
		for _, k := range expand(next) {
			e.put(r, k)
		}
	}
}

// endNames are names of when something ends.
var endNames = words("end ends end_time end_at until to finish finishes closes arr arrival")
