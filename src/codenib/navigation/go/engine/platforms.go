package main

// Build constraints: a file in, the operating system, processor and tags that it is built for out. Files that the default
// build excludes are loaded in a view of another platform, or of tags that their own constraints name.

import (
	"go/build"
	"path/filepath"
	"slices"
	"strings"
)

// A platform is what a build is for; its tags are separated by commas.
type platform struct{ os, arch, tags string }

var defaultPlatform = platform{os: build.Default.GOOS, arch: build.Default.GOARCH}

// Custom tags of one constraint that are tried in all combinations: more are tried one by one and all together.
const mostTags = 4

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
		out = append(out, platform{os: system, arch: arch})
	}
	return out
}

func (p platform) String() string {
	if p.tags == "" {
		return p.os + "/" + p.arch
	}
	return p.os + "/" + p.arch + " with " + p.tags
}

// matches reports whether the file belongs to the build for p.
func (p platform) matches(path string) bool {
	ctxt := build.Default
	ctxt.UseAllFiles = false
	ctxt.GOOS, ctxt.GOARCH = p.os, p.arch
	if p.tags != "" {
		ctxt.BuildTags = strings.Split(p.tags, ",")
	}
	dir, name := filepath.Split(path)
	ok, err := ctxt.MatchFile(dir, name)
	return err == nil && ok
}

// platformOf returns the first platform whose build includes a file that the default build excludes: without tags, then with
// as few as possible of those that its constraint names.
func platformOf(path string) (platform, bool) {
	if match := slices.IndexFunc(platforms, func(p platform) bool { return p.matches(path) }); match >= 0 {
		return platforms[match], true
	}
	for _, tags := range tagSets(customTags(path)) {
		for _, p := range append([]platform{defaultPlatform}, platforms...) {
			p.tags = strings.Join(tags, ",")
			if p.matches(path) {
				return p, true
			}
		}
	}
	return platform{}, false
}

// customTags lists the tags of a file's build constraint that are no platform, in order of their names. What is to be ignored
// is in no build.
func customTags(path string) []string {
	found := map[string]bool{}
	for _, expr := range constraintsOf(path) {
		expr.Eval(func(tag string) bool { // asks for all of them
			found[tag] = true
			return false
		})
	}
	var out []string
	for tag := range found {
		known := slices.ContainsFunc(platforms, func(p platform) bool { return tag == p.os || tag == p.arch })
		if !known && tag != "ignore" && tag != "unix" && tag != "cgo" && !strings.HasPrefix(tag, "go1.") {
			out = append(out, tag)
		}
	}
	slices.Sort(out)
	return out
}

// tagSets lists the sets of tags to try, the smallest first.
func tagSets(tags []string) [][]string {
	var out [][]string
	if len(tags) > mostTags {
		for _, tag := range tags {
			out = append(out, []string{tag})
		}
		return append(out, tags)
	}
	for bits := 1; bits < 1<<len(tags); bits++ {
		var set []string
		for i, tag := range tags {
			if bits&(1<<i) != 0 {
				set = append(set, tag)
			}
		}
		out = append(out, set)
	}
	slices.SortStableFunc(out, func(a, b []string) int { return len(a) - len(b) })
	return out
}

// addPlatforms moves files that the default build excludes into a view of the first platform that includes them.
func (d *divider) addPlatforms(files []string, of []int) {
	for i, file := range files {
		path := filepath.Join(d.root, file)
		if defaultPlatform.matches(path) {
			continue
		}
		base := d.views[of[i]]
		match, ok := platformOf(path)
		if !ok || base.modules == nil || strings.Contains(file, "vendor/") {
			base.addImports(path)
			continue
		}
		v := d.platformView(base, match)
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
