// Package browser looks at the page (package internal/observe/page) and at the site (module site)
// in a real browser, headless Chromium: that the page shows what happened as what it was,
// to the eye, to the keyboard and to a screen reader, that the site can be read from disk,
// and that neither asks another host for anything.
//
// It is a module of its own, so that what drives the browser is not in the go.mod
// that people read. All of it is tests, behind the tag page, since they need more
// than Go: see make test-page.
package browser
