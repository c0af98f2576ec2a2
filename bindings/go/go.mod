module hurray.dev/go/hurray

go 1.23
