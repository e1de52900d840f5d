package library

import "io/fs"

// FS has the shipped experiments as group/name.yaml.
func FS() fs.FS { return files }
