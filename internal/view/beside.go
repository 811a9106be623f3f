package view

// Adopt takes over what another cache holds and this one does not: the world in which
// other bodies were sent begins with what was there before.
func (c *Cache) Adopt(other *Cache) {
	for sum, k := range other.kept {
		if c.kept[sum] == nil && len(c.kept) < mostKept {
			one := *k
			c.kept[sum] = &one
		}
	}
}
