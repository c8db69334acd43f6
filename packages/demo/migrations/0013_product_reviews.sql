BEGIN;
CREATE TABLE product_reviews (
    product_id   bigint NOT NULL REFERENCES products (id),
    customer_id  bigint NOT NULL REFERENCES customers (id),
    stars        smallint NOT NULL CHECK (stars BETWEEN 1 AND 5),
    body         text,
    PRIMARY KEY (product_id, customer_id)
);
CREATE INDEX product_reviews_customer ON product_reviews (customer_id);
ALTER TABLE orders ADD CONSTRAINT orders_customer_known
    FOREIGN KEY (customer_id) REFERENCES customers (id) ON DELETE RESTRICT;
COMMIT;
