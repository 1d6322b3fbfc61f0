CREATE TABLE "idempotency_keys" (
	"owner" text NOT NULL,
	"key" text NOT NULL,
	"request_hash" text NOT NULL,
	"answer" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_owner_key_pk" PRIMARY KEY("owner","key")
);
--> statement-breakpoint
CREATE TABLE "questions" (
	"quest_id" uuid NOT NULL,
	"question_id" text NOT NULL,
	"order_number" integer NOT NULL,
	"type" text NOT NULL,
	"presentation" text NOT NULL,
	"titles" json NOT NULL,
	"alternatives" json NOT NULL,
	"bytes" integer GENERATED ALWAYS AS (octet_length(titles::text) + octet_length(alternatives::text)) STORED NOT NULL,
	CONSTRAINT "questions_quest_id_question_id_pk" PRIMARY KEY("quest_id","question_id"),
	CONSTRAINT "questions_type_known" CHECK ("questions"."type" in ('SINGLE_CHOICE', 'MULTIPLE_CHOICE', 'OPEN_TEXT', 'SCALE')),
	CONSTRAINT "questions_presentation_known" CHECK ("questions"."presentation" in ('HORIZONTAL', 'VERTICAL', 'DROPDOWN')),
	CONSTRAINT "questions_order_number_from_0" CHECK ("questions"."order_number" >= 0)
);
--> statement-breakpoint
CREATE TABLE "quests" (
	"quest_id" uuid PRIMARY KEY NOT NULL,
	"title" text NOT NULL,
	"titles" json DEFAULT '[]'::json NOT NULL,
	"bytes" integer GENERATED ALWAYS AS (octet_length(title) + octet_length(titles::text)) STORED NOT NULL,
	"published" boolean DEFAULT true NOT NULL,
	"draft_of" uuid,
	"audience" text GENERATED ALWAYS AS (case when draft_of is not null then 'nobody' when published then 'everybody' else 'editors' end) STORED NOT NULL,
	"based_on" uuid,
	"version" uuid NOT NULL,
	"question_count" integer NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "quests_draft_of_unique" UNIQUE("draft_of")
);
--> statement-breakpoint
ALTER TABLE "questions" ADD CONSTRAINT "questions_quest_id_quests_quest_id_fk" FOREIGN KEY ("quest_id") REFERENCES "quests"("quest_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "quests" ADD CONSTRAINT "quests_draft_of_quests_quest_id_fk" FOREIGN KEY ("draft_of") REFERENCES "quests"("quest_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "idempotency_keys_by_age" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "quests_newest" ON "quests" USING btree ("created_at","quest_id");
--> statement-breakpoint
-- Checked at the end of each statement, so that one UPDATE can shift many questions by one place. drizzle has no
-- deferrable constraints.
ALTER TABLE "questions" ADD CONSTRAINT "questions_place" UNIQUE ("quest_id", "order_number") DEFERRABLE INITIALLY IMMEDIATE;
