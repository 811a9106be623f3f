module github.com/temporalio/ringpop-go

go 1.26

require github.com/temporalio/tchannel-go v1.22.1
