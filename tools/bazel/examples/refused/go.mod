module example.test/refused

go 1.23
