package grounding

// clock is a time of day: 14:30, 14.30 Uhr, 2 pm.
func (s *scanner) clock(i int) int {
	h, ok := s.digits(i, 2)
	if !ok || h > 24 {
		return i
	}
	j, m := i+1, 0
	if v, ok := s.digits(i+2, 2); ok && v < 60 && s.at(i+2).end-s.at(i+2).start == 2 && (s.str(i+1) == ":" || s.str(i+1) == ".") {
		colon := s.str(i+1) == ":"
		j, m = i+3, v
		if colon && s.str(j) == ":" && s.is(j+1, 'n') {
			j += 2 // seconds
		}
		k := s.space(j)
		switch half, end := s.half(k); {
		case half >= 0:
			h, j = h%12+half, end
		case s.lower(k) == "uhr" || s.lower(k) == "h":
			j = k + 1
		case !colon:
			return i
		}
	} else {
		k := s.space(j)
		half, end := s.half(k)
		switch {
		case half >= 0:
			h, j = h%12+half, end
		case s.lower(k) == "uhr":
			j = k + 1
		default:
			return s.hourRange(i, h)
		}
	}
	s.add(claim{start: s.at(i).start, end: s.at(j - 1).end, sort: sortDate, keys: []key{{form: aTime, n: int64(h%24*60 + m)}}})
	return j
}

// half is 0 for am and 12 for pm; -1 for neither.
func (s *scanner) half(i int) (hours, end int) {
	switch s.lower(i) {
	case "am":
		if s.is(i+1, 's') && (s.is(i+2, 'n') || weekdayWords[s.lower(i+2)] > 0) {
			return -1, i // German: am 16.
		}
		return 0, i + 1
	case "pm":
		return 12, i + 1
	case "a", "p":
		if s.str(i+1) == "." && s.lower(i+2) == "m" {
			end = i + 3
			if s.str(end) == "." {
				end++
			}
			if s.lower(i) == "p" {
				return 12, end
			}
			return 0, end
		}
	}
	return -1, i
}
