DROP INDEX "inbox_entity";--> statement-breakpoint
CREATE INDEX "inbox_entity" ON "inbox" USING btree ("store_id","entity","id") WHERE finished_at is null;