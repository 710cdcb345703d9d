module example.com/byhand/tools/site/browser

go 1.26.0

replace example.com/byhand => ../../..

require (
	example.com/byhand v0.0.0-00010101000000-000000000000
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.22.1
	github.com/google/go-cmp v0.7.0
)

require github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
