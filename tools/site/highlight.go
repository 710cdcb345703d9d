package main

import (
	"go/scanner"
	"go/token"
	"html/template"
	"strings"
)

// classes are the CSS classes of highlighted tokens other than keywords.
var classes = map[token.Token]string{token.STRING: "text", token.CHAR: "text", token.COMMENT: "comment"}

// highlight marks the keywords, literals and comments of Go code, which may be a part of a file.
func highlight(code string) template.HTML {
	var b strings.Builder
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(code))
	s.Init(file, []byte(code), nil, scanner.ScanComments)
	done := 0
	for pos, kind, literal := s.Scan(); kind != token.EOF; pos, kind, literal = s.Scan() {
		class := classes[kind]
		if kind.IsKeyword() {
			class = "keyword"
		}
		if class != "" {
			at := file.Offset(pos)
			b.WriteString(template.HTMLEscapeString(code[done:at]))
			done = at + len(literal)
			b.WriteString(`<span class="` + class + `">` + template.HTMLEscapeString(code[at:done]) + `</span>`)
		}
	}
	b.WriteString(template.HTMLEscapeString(code[done:]))
	return template.HTML(b.String())
}
