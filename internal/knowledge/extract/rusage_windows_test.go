package extract_test

// childrenMemory is not known here.
func childrenMemory() int64 { return 0 }
