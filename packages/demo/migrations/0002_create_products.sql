CREATE TYPE stock_state AS ENUM ('in_stock', 'low', 'sold_out');

CREATE TABLE products (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sku          text NOT NULL UNIQUE CHECK (sku ~ '^[A-Z]{3}-[0-9]{4}$'),
    title        text NOT NULL,
    price_cents  integer NOT NULL CHECK (price_cents >= 0),
    state        stock_state NOT NULL DEFAULT 'in_stock',
    attributes   jsonb NOT NULL DEFAULT '{}'
);

CREATE INDEX products_attributes ON products USING gin (attributes jsonb_path_ops);

INSERT INTO products (sku, title, price_cents) VALUES
    ('MUG-0001', 'Mug, white', 900),
    ('MUG-0002', 'Mug, blue; dishwasher-safe', 950),
    ('TEE-0001', 'T-shirt -- "hello"', 1900);
