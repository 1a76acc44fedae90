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
	windows, arm, darwin := platform{os: "windows", arch: "amd64"}, platform{os: "linux", arch: "arm"}, platform{os: "darwin", arch: "arm64"}
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

func TestAFileIsBuiltWithAsFewOfItsOwnTagsAsPossible(t *testing.T) {
	root := t.TempDir()
	for text, want := range map[string]string{
		"special":                     "special",
		"json && !other":              "json",
		"one && two":                  "one,two",
		"one || two":                  "one",
		"a && b && c && d && e":       "a,b,c,d,e",
		"integration && (linux || x)": "integration",
	} {
		write(t, root, map[string]string{"x.go": "//go:build " + text + "\n\npackage p\n"})
		if p, ok := platformOf(filepath.Join(root, "x.go")); !ok || p.tags != want {
			t.Errorf("%s is built with %q", text, p.tags)
		}
	}
	for _, never := range []string{"ignore", "a && !a"} {
		write(t, root, map[string]string{"x.go": "//go:build " + never + "\n\npackage p\n"})
		if p, ok := platformOf(filepath.Join(root, "x.go")); ok {
			t.Errorf("%s is built by %s", never, p)
		}
	}
}
