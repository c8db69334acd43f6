CREATE TABLE orders_archive (LIKE orders INCLUDING ALL);

-- Everything that was sent goes to the archive.
DO $$
DECLARE
    part text;
BEGIN
    INSERT INTO orders_archive SELECT * FROM orders WHERE status = 'sent';
    IF FOUND THEN
        DELETE FROM order_lines;
    END IF;
    FOREACH part IN ARRAY ARRAY['2019', '2020'] LOOP
        EXECUTE format('DROP TABLE IF EXISTS orders_%s', part);
    END LOOP;
END
$$;

WITH moved AS (
    DELETE FROM orders WHERE true RETURNING id
)
SELECT count(*) FROM moved;
