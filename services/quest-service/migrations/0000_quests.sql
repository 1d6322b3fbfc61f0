CREATE TABLE "quests" (
	"quest_id" uuid PRIMARY KEY NOT NULL,
	"title" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
