// Package court is the command judge: it reads the flags, runs the scenarios, on control planes or in memory, and prints
// the verdict. It is the top floor. Below it are anykind, scenario, stage and verdict; each imports only those after it.
package court
