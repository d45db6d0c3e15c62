"""Every bound of the library, by id."""
