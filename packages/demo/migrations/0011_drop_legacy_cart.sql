BEGIN;
LOCK TABLE orders;
DROP TABLE IF EXISTS carts, cart_items CASCADE;
TRUNCATE order_events;
CREATE INDEX CONCURRENTLY orders_placed_at ON orders (placed_at);
COMMIT;
