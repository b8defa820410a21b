// Package web holds the interface that a browser shows: TypeScript in src, and beside it, in dist, the files made from
// it, which are committed and embedded, so that building nero needs Go alone. README.md says how to change it.
package web

import (
	"embed"
	"io/fs"
)

//go:generate go run ./types
//go:generate go run ./bundle

//go:embed dist
var dist embed.FS

// Files is what a browser loads: index.html, app.js with base.js, app.css and LICENSES.txt; more.js and viewer3d.js,
// which app.js imports when views that need them first open; and report.js, which stands for app.js and more.js in
// files that are opened from disk. All of them refer to each other with relative URLs, so that they work below any
// path. The files have no modification times; every build of the same sources has the same bytes.
func Files() fs.FS {
	f, err := fs.Sub(dist, "dist")
	if err != nil {
		panic("web: " + err.Error()) // the name is a constant, and valid
	}
	return f
}
