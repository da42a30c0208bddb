module adapter

go 1.23
