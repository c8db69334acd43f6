-- Copied from the old shop, which ran on another database.
CREATE TABLE loyalty_points (
    id           int NOT NULL AUTO_INCREMENT,
    customer_id  bigint NOT NULL,
    points       int NOT NULL DEFAULT 0,
    PRIMARY KEY (id)
) ENGINE=InnoDB;

DROP TABLE vouchers;
