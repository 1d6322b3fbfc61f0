DROP INDEX "players_created";--> statement-breakpoint
CREATE INDEX "players_created" ON "players" USING btree ("created_at");