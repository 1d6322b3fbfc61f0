-- A time in JSON: UTC, milliseconds. Declared immutable, so that columns can be generated from it; to_char is not,
-- because formats with names of months depend on settings. The functions of columns are parsed here and not when they run,
-- because a restore runs them without a search path.
create function json_time(at timestamptz) returns text language sql immutable parallel safe
  return to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
--> statement-breakpoint
create function project_json(
  id uuid, name text, client text, status text, source_language text, target_languages text[], due_at timestamptz,
  created_at timestamptz, updated_at timestamptz, version integer
) returns text language sql immutable parallel safe
  return (select to_json(project)::text from (
    select id, name, client, status, source_language, target_languages, json_time(due_at) as due_at,
      json_time(created_at) as created_at, json_time(updated_at) as updated_at, version) project);
--> statement-breakpoint
create function deliverable_json(
  project_id uuid, id uuid, name text, language text, type text, status text, file_url text, assignee text,
  due_at timestamptz, delivered_at timestamptz, updated_at timestamptz, version integer
) returns text language sql immutable parallel safe
  return (select to_json(deliverable)::text from (
    select id, project_id, name, language, type, status, file_url, assignee, json_time(due_at) as due_at,
      json_time(delivered_at) as delivered_at, json_time(updated_at) as updated_at, version) deliverable);
--> statement-breakpoint
-- Returns the updated_at of a change. A snapshot that contains a change made at t contains all changes made before
-- t; other changes made at t may still follow. Each writer holds advisory lock (5, 1) until its transaction ends:
-- exclusively if it sets a new time, shared if it uses the time of others. Runs as its owner, because the role of
-- the service may not set a sequence. docs/adr/0050 explains why this is correct.
create function next_updated_at() returns timestamptz
language plpgsql security definer as $$
declare
  latest bigint;
  milliseconds bigint;
begin
  if not pg_catalog.pg_try_advisory_xact_lock(5, 1) then
    select last_value into latest from latest_updated_at;
    milliseconds := floor(extract(epoch from pg_catalog.clock_timestamp()) * 1000);
    -- Others are writing. Use their time unless it is old, or the clock was set back. Then one writer waits for them.
    if abs(milliseconds - latest) < 50 or not pg_catalog.pg_try_advisory_xact_lock(5, 2) then
      perform pg_catalog.pg_advisory_xact_lock_shared(5, 1);
      select last_value into latest from latest_updated_at;
      return pg_catalog.to_timestamp(latest / 1000.0);
    end if;
    perform pg_catalog.pg_advisory_xact_lock(5, 1);
  end if;
  select last_value into latest from latest_updated_at;
  milliseconds := floor(extract(epoch from pg_catalog.clock_timestamp()) * 1000);
  -- If the clock was set back, continue in steps of one millisecond: one time for all changes until the clock has caught up
  -- would be shared by more projects than fit on a page.
  if milliseconds < latest then
    milliseconds := latest + 1;
  end if;
  return pg_catalog.to_timestamp(pg_catalog.setval('latest_updated_at', milliseconds) / 1000.0);
end
$$;
--> statement-breakpoint
do $$ begin
  execute format('alter function next_updated_at() set search_path = %I, pg_temp', current_schema());
end $$;
--> statement-breakpoint
CREATE SEQUENCE "latest_updated_at" INCREMENT BY 1 MINVALUE 0 MAXVALUE 9223372036854775807 START WITH 0 CACHE 1;--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"name" text NOT NULL,
	"key_hash" text NOT NULL,
	"key_hint" text NOT NULL,
	"scopes" text[] NOT NULL,
	"clients" text[],
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"granted_until" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	"last_used_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "deliverables" (
	"project_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"client" text,
	"name" text,
	"language" text NOT NULL,
	"type" text NOT NULL,
	"status" text NOT NULL,
	"file_url" text,
	"assignee" text,
	"due_at" timestamp (3) with time zone,
	"delivered_at" timestamp (3) with time zone,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"json" text GENERATED ALWAYS AS (deliverable_json(project_id, id, name, language, type, status, file_url, assignee, due_at, delivered_at, updated_at, version)) STORED NOT NULL,
	CONSTRAINT "deliverables_project_id_id_pk" PRIMARY KEY("project_id","id"),
	CONSTRAINT "deliverables_type_known" CHECK ("deliverables"."type" in ('report', 'certificate', 'transcript', 'translation', 'evidence')),
	CONSTRAINT "deliverables_status_known" CHECK ("deliverables"."status" in ('pending', 'in_progress', 'delivered', 'accepted', 'rejected'))
);
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
CREATE TABLE "languages" (
	"code" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"native_name" text NOT NULL,
	"direction" text NOT NULL,
	CONSTRAINT "languages_direction_known" CHECK ("languages"."direction" in ('ltr', 'rtl'))
);
--> statement-breakpoint
CREATE TABLE "projects" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"status" text NOT NULL,
	"source_language" text NOT NULL,
	"target_languages" text[] NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"archived_at" timestamp (3) with time zone,
	"client" text,
	"due_at" timestamp (3) with time zone,
	"version" integer DEFAULT 1 NOT NULL,
	"json" text GENERATED ALWAYS AS (project_json(id, name, client, status, source_language, target_languages, due_at, created_at, updated_at, version)) STORED NOT NULL,
	CONSTRAINT "projects_status_known" CHECK ("projects"."status" in ('draft', 'active', 'in_review', 'completed', 'archived'))
);
--> statement-breakpoint
ALTER TABLE "deliverables" ADD CONSTRAINT "deliverables_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_by_hash" ON "api_keys" USING btree ("key_hash");--> statement-breakpoint
CREATE INDEX "deliverables_by_id" ON "deliverables" USING btree ("id");--> statement-breakpoint
CREATE INDEX "deliverables_by_client" ON "deliverables" USING btree ("client","id") WHERE client is not null;--> statement-breakpoint
CREATE INDEX "idempotency_keys_by_age" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "projects_order" ON "projects" USING btree ("updated_at","id");--> statement-breakpoint
CREATE INDEX "projects_by_status" ON "projects" USING btree ("status","updated_at","id");--> statement-breakpoint
CREATE INDEX "projects_by_client" ON "projects" USING btree ("client","status","updated_at","id") WHERE client is not null;--> statement-breakpoint
CREATE INDEX "projects_by_client_and_id" ON "projects" USING btree ("client","id") WHERE client is not null;
