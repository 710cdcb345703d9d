package main

import "example.com/byhand/judge/internal/court"

func main() { court.Main() }
