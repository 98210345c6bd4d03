"""What a user calls: `%%autograd`, its options, the report of a cell, the command line, the kernel."""
