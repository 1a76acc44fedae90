package main

// Build constraints: which operating system and processor a file is built for. Files that the default build leaves out
// are seen through a further view with another port, or alone when only a custom tag would include them.

import (
	"go/build"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

type port struct{ os, arch string }

var defaultPort = port{build.Default.GOOS, build.Default.GOARCH}

// ports are tried in this order, which is that of the live server.
var ports = parsePorts(`darwin/amd64 darwin/arm64 linux/amd64 linux/arm64 windows/amd64 linux/arm linux/386 windows/386
aix/ppc64 dragonfly/amd64 freebsd/386 freebsd/amd64 freebsd/arm freebsd/arm64 illumos/amd64 linux/ppc64 linux/ppc64le
linux/mips linux/mipsle linux/mips64 linux/mips64le linux/riscv64 linux/s390x android/386 android/amd64 android/arm
android/arm64 ios/arm64 ios/amd64 js/wasm netbsd/386 netbsd/amd64 netbsd/arm netbsd/arm64 openbsd/386 openbsd/amd64
openbsd/arm openbsd/arm64 openbsd/mips64 plan9/386 plan9/amd64 plan9/arm solaris/amd64 windows/arm windows/arm64`)

func parsePorts(list string) []port {
	var out []port
	for _, name := range strings.Fields(list) {
		system, arch, _ := strings.Cut(name, "/")
		out = append(out, port{system, arch})
	}
	return out
}

func (p port) String() string { return p.os + "/" + p.arch }

// matches reports whether the file belongs to the build for p with no other tags set.
func (p port) matches(path string) bool {
	ctxt := build.Default
	ctxt.UseAllFiles = false
	ctxt.GOOS, ctxt.GOARCH = p.os, p.arch
	dir, name := filepath.Split(path)
	ok, err := ctxt.MatchFile(dir, name)
	return err == nil && ok
}

// addPorts moves the files that the default build excludes into views of the first port that includes them.
func (d *divider) addPorts(files []string, of []int) {
	for i, file := range files {
		path := filepath.Join(d.root, file)
		if defaultPort.matches(path) {
			continue
		}
		base := d.views[of[i]]
		found := slices.IndexFunc(ports, func(p port) bool { return p.matches(path) })
		if found < 0 || base.modules == nil || strings.Contains(file, "vendor/") {
			base.addImports(path)
			continue
		}
		v := d.portView(base, ports[found])
		of[i] = v.index
		if dir := filepath.Dir(path); !v.focus[dir] {
			v.focus[dir] = true
			v.patterns = append(v.patterns, dir)
		}
		v.addImports(path) // in case that build leaves the file out after all
	}
}

func (d *divider) portView(base *view, p port) *view {
	for _, v := range d.views {
		if v.base == base.index && v.port == p {
			return v
		}
	}
	v := &view{
		index: len(d.views), base: base.index, dir: base.dir, modules: base.modules, port: p, focus: map[string]bool{},
		prefix: base.prefix + "view " + p.String() + ": ",
		env:    append(slices.Clone(base.env), "GOOS="+p.os, "GOARCH="+p.arch),
	}
	d.views = append(d.views, v)
	return v
}

// addImports loads what a file that is checked alone imports.
func (v *view) addImports(path string) {
	for _, imported := range importsOf(path) {
		if imported != "C" && imported != "unsafe" && !slices.Contains(v.patterns, imported) {
			v.patterns = append(v.patterns, imported)
		}
	}
}

func importsOf(path string) []string {
	tree, _ := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if tree == nil {
		return nil
	}
	var out []string
	for _, spec := range tree.Imports {
		if imported, err := strconv.Unquote(spec.Path.Value); err == nil && imported != "" && !strings.HasPrefix(imported, ".") {
			out = append(out, imported)
		}
	}
	return out
}
