package main

// Build constraints: a file in, the operating system and processor that it is built for out. Files that the default build
// excludes are loaded in a view of another platform, or alone when only a custom tag would include them.

import (
	"go/build"
	"path/filepath"
	"slices"
	"strings"
)

type platform struct{ os, arch string }

var defaultPlatform = platform{build.Default.GOOS, build.Default.GOARCH}

// platforms are tried in this order, which is that of gopls.
var platforms = parsePlatforms(`darwin/amd64 darwin/arm64 linux/amd64 linux/arm64 windows/amd64 linux/arm linux/386 windows/386
aix/ppc64 dragonfly/amd64 freebsd/386 freebsd/amd64 freebsd/arm freebsd/arm64 illumos/amd64 linux/ppc64 linux/ppc64le
linux/mips linux/mipsle linux/mips64 linux/mips64le linux/riscv64 linux/s390x android/386 android/amd64 android/arm
android/arm64 ios/arm64 ios/amd64 js/wasm netbsd/386 netbsd/amd64 netbsd/arm netbsd/arm64 openbsd/386 openbsd/amd64
openbsd/arm openbsd/arm64 openbsd/mips64 plan9/386 plan9/amd64 plan9/arm solaris/amd64 windows/arm windows/arm64`)

func parsePlatforms(list string) []platform {
	var out []platform
	for _, name := range strings.Fields(list) {
		system, arch, _ := strings.Cut(name, "/")
		out = append(out, platform{system, arch})
	}
	return out
}

func (p platform) String() string { return p.os + "/" + p.arch }

// matches reports whether the file belongs to the build for p with no other tags set.
func (p platform) matches(path string) bool {
	ctxt := build.Default
	ctxt.UseAllFiles = false
	ctxt.GOOS, ctxt.GOARCH = p.os, p.arch
	dir, name := filepath.Split(path)
	ok, err := ctxt.MatchFile(dir, name)
	return err == nil && ok
}

// addPlatforms moves files that the default build excludes into a view of the first platform that includes them.
func (d *divider) addPlatforms(files []string, of []int) {
	for i, file := range files {
		path := filepath.Join(d.root, file)
		if defaultPlatform.matches(path) {
			continue
		}
		base := d.views[of[i]]
		match := slices.IndexFunc(platforms, func(p platform) bool { return p.matches(path) })
		if match < 0 || base.modules == nil || strings.Contains(file, "vendor/") {
			base.addImports(path)
			continue
		}
		v := d.platformView(base, platforms[match])
		of[i] = v.index
		if dir := filepath.Dir(path); !v.ownDirs[dir] {
			v.ownDirs[dir] = true
			v.patterns = append(v.patterns, dir)
		}
		v.addImports(path) // in case that build excludes the file after all
	}
}

func (d *divider) platformView(base *view, p platform) *view {
	for _, v := range d.views {
		if v.base == base.index && v.platform == p {
			return v
		}
	}
	v := &view{
		index: len(d.views), base: base.index, dir: base.dir, modules: base.modules, platform: p, ownDirs: map[string]bool{},
		prefix: base.prefix + "view " + p.String() + ": ",
		env:    append(slices.Clone(base.env), "GOOS="+p.os, "GOARCH="+p.arch),
	}
	d.views = append(d.views, v)
	return v
}

// addImports adds the imports of a file that is checked alone to what is loaded.
func (v *view) addImports(path string) {
	for _, imported := range importsOf(path) {
		if imported != "C" && imported != "unsafe" && !slices.Contains(v.patterns, imported) {
			v.patterns = append(v.patterns, imported)
		}
	}
}
