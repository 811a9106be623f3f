package extract

import "strings"

// chart is the numbers of a chart as a table: what is shown is drawn from
// them, and they are what a person asks about.
type chart struct {
	title  []string
	series []chartSeries

	path   []string // of the elements that matter
	inText bool
	value  strings.Builder
}

// chartSeries is a row of a chart: its name, and a value for each category.
type chartSeries struct {
	name         string
	names, tells []string
}

// chart reads the chart in a part.
func (a *archive) chart(part string) (*chart, error) {
	c := &chart{}
	if !a.has(part) {
		return c, nil
	}
	return c, a.walk(part, c)
}

func (c *chart) open(name string, _ func(string) string) bool {
	switch name {
	case "ser":
		c.series = append(c.series, chartSeries{})
		c.path = append(c.path, name)
	case "title", "tx", "cat", "val", "xVal", "yVal":
		c.path = append(c.path, name)
	case "v", "t":
		c.inText = true
		c.value.Reset()
	case "externalData", "printSettings", "txPr", "dLbls":
		return false
	}
	return true
}

func (c *chart) text(s string) {
	if c.inText {
		c.value.WriteString(s)
	}
}

func (c *chart) close(name string) {
	switch name {
	case "ser", "title", "tx", "cat", "val", "xVal", "yVal":
		c.path = c.path[:max(0, len(c.path)-1)]
	case "v", "t":
		c.inText = false
		c.keep(strings.Join(strings.Fields(c.value.String()), " "))
	}
}

// keep puts a text where the elements around it say it belongs.
func (c *chart) keep(s string) {
	if s == "" || len(c.path) == 0 {
		return
	}
	around := c.path[len(c.path)-1]
	if c.path[0] == "title" {
		c.title = append(c.title, s)
		return
	}
	if len(c.series) == 0 || c.path[0] != "ser" {
		return
	}
	row := &c.series[len(c.series)-1]
	switch around {
	case "tx":
		row.name = s
	case "cat", "xVal":
		row.names = append(row.names, s)
	case "val", "yVal":
		row.tells = append(row.tells, s)
	}
}

// write writes the chart as a table, a series a row.
func (c *chart) write(out *composer) {
	out.write("", strings.Join(c.title, " "))
	for i, row := range c.series {
		if i == 0 && len(row.names) > 0 {
			out.row(append([]string{""}, row.names...), true)
		}
		out.row(append([]string{row.name}, row.tells...), i == 0 && len(row.names) == 0)
	}
}
