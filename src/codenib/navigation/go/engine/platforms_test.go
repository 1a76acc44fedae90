package main

import (
	"path/filepath"
	"testing"
)

func TestAFileBelongsToThePlatformsThatItsNameAndTagsAllow(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"any.go":         "package p\n",
		"x_windows.go":   "package p\n",
		"x_linux_arm.go": "package p\n",
		"tagged.go":      "//go:build darwin || plan9\n\npackage p\n",
		"custom.go":      "//go:build special\n\npackage p\n",
	})
	windows, arm, darwin := platform{"windows", "amd64"}, platform{"linux", "arm"}, platform{"darwin", "arm64"}
	cases := map[string][]platform{
		"any.go": {windows, arm, darwin}, "x_windows.go": {windows}, "x_linux_arm.go": {arm}, "tagged.go": {darwin},
		"custom.go": nil,
	}
	for name, want := range cases {
		for _, p := range []platform{windows, arm, darwin} {
			wanted := false
			for _, each := range want {
				wanted = wanted || each == p
			}
			if p.matches(filepath.Join(root, name)) != wanted {
				t.Errorf("%s on %s: %t", name, p, !wanted)
			}
		}
	}
}
