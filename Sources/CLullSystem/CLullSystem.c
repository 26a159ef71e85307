// The package manager requires a source file. Everything is inline in the headers: a program contains what it calls and nothing else.
