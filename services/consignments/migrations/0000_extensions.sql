-- Trigram indexes, for SearchText. The owner of a database may create this one.
create extension if not exists pg_trgm;
