// Package browser tests the page (package internal/observe/page) and the site (module site) in
// headless Chromium: the page shows what happened, the picture of each lesson ends on its step, text
// has contrast on a desktop and on a phone, the site can be read from disk, and neither asks
// another host for anything. Screen readers and the layout on other screens are checked by hand.
//
// It is a module of its own, so that what drives the browser is not in the go.mod
// that people read. All of it is tests, behind the tag page, since they need more
// than Go: see make test-page.
package browser
