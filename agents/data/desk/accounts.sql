-- The accounts of the support desk. scripts/accounts.py makes a database of them.

CREATE TABLE accounts (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    team TEXT NOT NULL,
    customer_since TEXT NOT NULL
);

CREATE TABLE orders (
    number TEXT PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES accounts (number),
    item TEXT NOT NULL,
    ordered TEXT NOT NULL,
    paid TEXT NOT NULL
);

CREATE TABLE tickets (
    number TEXT PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES accounts (number)
);

INSERT INTO accounts VALUES
    (7, 'Amelie Brandt', 'a.brandt@customer.example', 'north', '2021-05-03'),
    (8, 'Teodor Lind', 't.lind@customer.example', 'south', '2024-11-19');

INSERT INTO orders VALUES
    ('D-1042', 7, 'Espresso machine "Strand"', '2026-02-16', '189.00'),
    ('D-1050', 7, 'Two water filters', '2026-02-24', '25.00'),
    ('D-1061', 8, 'Kettle "Fjord"', '2026-02-25', '74.50');

INSERT INTO tickets VALUES
    ('4711', 7),
    ('4712', 7),
    ('4713', 8);
