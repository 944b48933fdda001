"""What reaches out of the process for definitions: addresses, programs, databases, files."""
