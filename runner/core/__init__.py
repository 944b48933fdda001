"""Values, states, errors and ports: what every other part agrees on."""
