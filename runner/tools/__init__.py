"""Tools brought to life: how they are built, called, and answered for."""
