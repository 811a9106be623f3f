package grounding

// Words adds what the person said.
func (e *Evidence) Words(text string) {
	if text = e.fits(text); text == "" {
		return
	}
	e.wrote, e.told = append(e.wrote, text), ""
	for _, c := range e.scanner.values(text) {
		for _, k := range c.keys {
			e.hold(given, k)
		}
		if c.unit != noUnit && c.unit != percent && len(c.keys) > 0 {
			e.spans[c.keys[0].n] = c.unit
		}
	}
	e.say(text)
}

// Names adds a text whose words may be said in quotes, and nothing else of it:
// that of the instructions.
func (e *Evidence) Names(text string) {
	text = e.fits(text)
	e.rules, e.told = append(e.rules, text), ""
	e.say(text)
}

func (e *Evidence) say(text string) {
	foldInto(&e.hay, text)
	e.hay.WriteString("\n ")
	e.folded = ""
}

func (e *Evidence) fits(text string) string {
	if len(text) > e.left {
		text = text[:e.left]
	}
	e.left -= len(text)
	return text
}

// Earlier adds records that answers before this one cited.
func (e *Evidence) Earlier(records ...Record) {
	for _, r := range records {
		if r.ID == "" || r.Entity == "" {
			continue
		}
		r.Earlier = true
		e.cited, e.told = append(e.cited, r.Entity+" "+r.ID+": "+r.Line), ""
		e.kinds[r.Entity] = true
		n := e.row(-1, -1)
		e.rows[n].record = &r
		e.scalar(n, "earlier", "line", r.Line)
		e.scalar(n, "earlier", "id", r.ID)
		e.known(n)
	}
}
