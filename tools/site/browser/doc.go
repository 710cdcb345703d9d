// Package browser tests the page (package internal/observe/page) and the site (module site) in headless
// Chromium. The page shows what happened, and the picture of each lesson ends on its step. Text has
// contrast on a desktop and on a phone. The site can be read from disk, and neither contacts another
// host. Check screen readers and the layout on other screens by hand.
//
// It is a separate module, so that the browser driver is not in the main go.mod. All files are tests
// with the build tag page, since they need more than Go: see make test-page.
package browser
