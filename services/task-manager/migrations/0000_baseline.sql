CREATE TYPE "task_priority" AS ENUM('low', 'medium', 'high', 'urgent');--> statement-breakpoint
CREATE TYPE "task_status" AS ENUM('todo', 'in_progress', 'done');--> statement-breakpoint
-- Formats a time for JSON: UTC with milliseconds. Declared immutable, because generated columns need that; to_char itself is
-- not immutable, because formats with month names depend on settings. Both functions use `return`, so that PostgreSQL parses
-- them here: a restore runs them without a search path.
create function json_time(at timestamptz) returns text language sql immutable parallel safe
  return to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
--> statement-breakpoint
create function task_json(
  id uuid, title text, description text, status task_status, priority task_priority, due_date date, due_at timestamptz,
  tags text[], list_id uuid, assignee_id uuid, completed_at timestamptz, created_at timestamptz, updated_at timestamptz,
  version integer
) returns text language sql immutable parallel safe
  return (select to_json(task)::text from (
    select id, title, description, status, priority, due_date as "dueDate", json_time(due_at) as "dueAt", tags,
      list_id as "listId", assignee_id as "assigneeId", json_time(completed_at) as "completedAt",
      json_time(created_at) as "createdAt", json_time(updated_at) as "updatedAt", version) task);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"owner" text NOT NULL,
	"key" text NOT NULL,
	"request_hash" text NOT NULL,
	"answer" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_owner_key_pk" PRIMARY KEY("owner","key")
);
--> statement-breakpoint
CREATE TABLE "known_networks" (
	"user_id" uuid NOT NULL,
	"network" text NOT NULL,
	"seen_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "known_networks_user_id_network_pk" PRIMARY KEY("user_id","network")
);
--> statement-breakpoint
CREATE TABLE "list_leftovers" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"list_id" uuid NOT NULL,
	"assignee_id" uuid
);
--> statement-breakpoint
CREATE TABLE "list_members" (
	"list_id" uuid NOT NULL,
	"email" text NOT NULL,
	"user_id" uuid,
	"role" text NOT NULL,
	"invitation" uuid NOT NULL,
	"invited_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "list_members_list_id_email_pk" PRIMARY KEY("list_id","email"),
	CONSTRAINT "list_members_by_user" UNIQUE("user_id","list_id"),
	CONSTRAINT "list_members_role" CHECK ("list_members"."role" in ('owner', 'editor', 'viewer'))
);
--> statement-breakpoint
CREATE TABLE "lists" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "mails" (
	"owner" uuid NOT NULL,
	"id" uuid NOT NULL,
	"kind" text NOT NULL,
	"recipient" text NOT NULL,
	"sender" uuid,
	"list_id" uuid,
	"invitation" uuid,
	"state" text NOT NULL,
	"worker" uuid,
	"attempts" integer NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"error" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "mails_owner_id_pk" PRIMARY KEY("owner","id"),
	CONSTRAINT "mails_kind" CHECK ("mails"."kind" in ('invitation', 'password_reset', 'email_verification', 'email_change', 'password_changed', 'email_changed', 'session_ended', 'deletion_requested', 'deletion_undone')),
	CONSTRAINT "mails_state" CHECK ("mails"."state" in ('pending', 'sent', 'failed', 'unwanted', 'used'))
);
--> statement-breakpoint
CREATE TABLE "security_events" (
	"user_id" uuid NOT NULL,
	"day" date NOT NULL,
	"kind" text NOT NULL,
	"network" text NOT NULL,
	"browser" text NOT NULL,
	"count" integer NOT NULL,
	"first_at" timestamp (3) with time zone NOT NULL,
	"last_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "security_events_user_id_day_kind_network_browser_pk" PRIMARY KEY("user_id","day","kind","network","browser"),
	CONSTRAINT "security_events_kind" CHECK ("security_events"."kind" in ('registered', 'login', 'login_failed', 'password_failed', 'reauthenticated', 'password_changed', 'password_reset', 'email_change_requested', 'email_changed', 'email_verified', 'exported', 'deletion_requested', 'deletion_undone', 'session_ended', 'other_sessions_ended', 'refresh_token_reused', 'locked', 'unlocked', 'reset_requested', 'all_sessions_ended'))
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"user_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"refresh_hash" "bytea" NOT NULL,
	"rotated_at" timestamp (3) with time zone,
	"browser" text NOT NULL,
	"network" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"authenticated_at" timestamp (3) with time zone NOT NULL,
	"last_used_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "sessions_user_id_id_pk" PRIMARY KEY("user_id","id")
);
--> statement-breakpoint
CREATE TABLE "tasks" (
	"owner_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"list_id" uuid,
	"title" text NOT NULL,
	"description" text NOT NULL,
	"status" "task_status" NOT NULL,
	"priority" "task_priority" NOT NULL,
	"due_date" date,
	"due_at" timestamp (3) with time zone,
	"tags" text[] NOT NULL,
	"assignee_id" uuid,
	"completed_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"version" integer NOT NULL,
	"words" "tsvector" GENERATED ALWAYS AS (strip(to_tsvector('simple', translate(normalize(title || ' ' || description, NFKC), './:@_-+<>&', '          ')))) STORED NOT NULL,
	"json" text GENERATED ALWAYS AS (task_json(id, title, description, status, priority, due_date, due_at, tags, list_id, assignee_id, completed_at, created_at, updated_at, version)) STORED NOT NULL,
	CONSTRAINT "tasks_owner_id_id_pk" PRIMARY KEY("owner_id","id")
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" uuid PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"name" text,
	"password_hash" text NOT NULL,
	"language" text DEFAULT 'en' NOT NULL,
	"email_verified_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"deletion_at" timestamp (3) with time zone,
	"locked_at" timestamp (3) with time zone,
	"version" integer DEFAULT 1 NOT NULL,
	CONSTRAINT "users_email" UNIQUE("email")
);
--> statement-breakpoint
CREATE TABLE "workers" (
	"id" uuid PRIMARY KEY NOT NULL,
	"alive_until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "known_networks" ADD CONSTRAINT "known_networks_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "list_members" ADD CONSTRAINT "list_members_list_id_lists_id_fk" FOREIGN KEY ("list_id") REFERENCES "lists"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "list_members" ADD CONSTRAINT "list_members_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mails" ADD CONSTRAINT "mails_sender_users_id_fk" FOREIGN KEY ("sender") REFERENCES "users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "security_events" ADD CONSTRAINT "security_events_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "idempotency_keys_by_age" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "known_networks_by_age" ON "known_networks" USING btree ("seen_at");--> statement-breakpoint
CREATE INDEX "list_members_invited" ON "list_members" USING btree ("invited_at") WHERE user_id is null;--> statement-breakpoint
CREATE INDEX "mails_due" ON "mails" USING btree ("owner","due_at") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "mails_by_sender" ON "mails" USING btree ("sender","created_at");--> statement-breakpoint
CREATE INDEX "mails_by_age" ON "mails" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "security_events_by_age" ON "security_events" USING btree ("day");--> statement-breakpoint
CREATE INDEX "sessions_by_expiry" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "tasks_by_created" ON "tasks" USING btree ("owner_id","created_at" DESC NULLS FIRST,"id");--> statement-breakpoint
CREATE INDEX "tasks_by_updated" ON "tasks" USING btree ("owner_id","updated_at" DESC NULLS FIRST,"id");--> statement-breakpoint
CREATE INDEX "tasks_by_priority" ON "tasks" USING btree ("owner_id","priority" DESC NULLS FIRST,"id");--> statement-breakpoint
CREATE INDEX "tasks_by_title" ON "tasks" USING btree ("owner_id",title collate "und-x-icu","id");--> statement-breakpoint
CREATE INDEX "tasks_by_due" ON "tasks" USING btree ("owner_id","due_date","due_at","id");--> statement-breakpoint
CREATE INDEX "tasks_by_due_desc" ON "tasks" USING btree ("owner_id","due_date" DESC NULLS LAST,"due_at" DESC NULLS LAST,"id");--> statement-breakpoint
CREATE INDEX "tasks_by_assignee" ON "tasks" USING btree ("owner_id","assignee_id","created_at") WHERE assignee_id is not null;--> statement-breakpoint
CREATE INDEX "users_to_erase" ON "users" USING btree ("deletion_at") WHERE deletion_at is not null;--> statement-breakpoint
-- A deep page skips tasks by reading only the index if they were vacuumed since their last change (ADR 18).
ALTER TABLE "tasks" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
