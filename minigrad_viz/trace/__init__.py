"""What happened in a cell and the picture's model of it, as plain data; where it is in the source."""
