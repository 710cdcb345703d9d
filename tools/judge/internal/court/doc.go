// Package court is the command judge: it reads the flags, runs the scenarios on control planes or in memory,
// and prints the verdict. Below it are anykind, scenario, stage and verdict; each imports only the ones after
// it.
package court
