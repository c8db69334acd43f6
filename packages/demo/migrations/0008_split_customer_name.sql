ALTER TABLE customers ADD COLUMN given_name text;
ALTER TABLE customers ADD COLUMN family_name text NOT NULL;

UPDATE customers
SET given_name = split_part(full_name, ' ', 1),
    family_name = substr(full_name, strpos(full_name, ' ') + 1)
WHERE given_name IS NULL;

ALTER TABLE customers DROP COLUMN full_name;
