BEGIN;

CREATE TABLE orders (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    customer_id  bigint NOT NULL REFERENCES customers (id),
    placed_at    timestamptz NOT NULL DEFAULT now(),
    total_cents  integer
);

CREATE TABLE order_lines (
    order_id    bigint NOT NULL,
    product_id  bigint NOT NULL,
    quantity    integer NOT NULL CHECK (quantity > 0),
    PRIMARY KEY (order_id, product_id)
);

-- Both tables are new and empty here, so nobody waits for these checks.
ALTER TABLE order_lines
    ADD CONSTRAINT order_lines_order FOREIGN KEY (order_id) REFERENCES orders (id),
    ADD CONSTRAINT order_lines_product FOREIGN KEY (product_id) REFERENCES products (id);

CREATE FUNCTION touch_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE orders SET placed_at = placed_at WHERE id = NEW.order_id;
    RETURN NEW;
END;
$$;

CREATE TRIGGER order_lines_touch AFTER INSERT ON order_lines FOR EACH ROW EXECUTE FUNCTION touch_order();

COMMIT;
