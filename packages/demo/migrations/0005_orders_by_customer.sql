-- Customer service looks orders up by customer.
CREATE INDEX orders_customer ON orders (customer_id, placed_at DESC);

DROP INDEX customers_created_at;
