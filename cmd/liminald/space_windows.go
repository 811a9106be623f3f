package main

import "golang.org/x/sys/windows"

// freeSpace is how much a folder may grow, in bytes.
func freeSpace(dir string) (free uint64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	return free, windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
}
