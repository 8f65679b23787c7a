"""One module for each format or family: ``read`` makes blocks of a file. Only the reading process imports them."""
