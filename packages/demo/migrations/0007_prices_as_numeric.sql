ALTER TABLE products
    ALTER COLUMN price_cents TYPE numeric(12, 2) USING price_cents / 100.0,
    ADD COLUMN public_id uuid NOT NULL DEFAULT gen_random_uuid();

ALTER TABLE products RENAME COLUMN price_cents TO price;
