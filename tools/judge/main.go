package main

import "example.com/byhand/tools/judge/internal/court"

func main() { court.Main() }
