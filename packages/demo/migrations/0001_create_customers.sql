-- The people who buy.
CREATE TABLE customers (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    email       text NOT NULL UNIQUE,
    full_name   text NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now()
);

COMMENT ON COLUMN customers.full_name IS 'as the customer typed it, e.g. Zoë Müller-Ångström';

CREATE INDEX customers_created_at ON customers (created_at);
