module example.test/example

go 1.23
