module codenib/gofacts

go 1.25.0

require (
	golang.org/x/mod v0.32.0
	golang.org/x/tools v0.41.0
)

require golang.org/x/sync v0.19.0 // indirect
