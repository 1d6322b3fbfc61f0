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
CREATE INDEX "idempotency_keys_by_age" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "projects_order" ON "projects" USING btree ("updated_at","id");--> statement-breakpoint
CREATE INDEX "projects_by_status" ON "projects" USING btree ("status","updated_at","id");--> statement-breakpoint
CREATE INDEX "projects_by_client" ON "projects" USING btree ("client","status","updated_at","id") WHERE client is not null;
--> statement-breakpoint
-- The page directory of projects: written by installSql() of @platform/pagination, whose README explains it.
-- A bucket holds the rows from its key to the key of the next bucket; `n` counts them, without the changes below.
create table projects_directory_buckets as
  select ''::text as filter, ''::text as value, updated_at, id, 0 as n from projects with no data;
alter table projects_directory_buckets add primary key (filter, value, updated_at, id), alter n set not null,
  set (fillfactor = 50);
create index on projects_directory_buckets (updated_at, id);
--> statement-breakpoint
-- One row for each row that entered (1) or left (-1) the list. Writers only insert here: none waits for another.
-- Without a primary key, which would cost every writer more; logical replication knows a row by all its columns.
create table projects_directory_changes as
  select null::xid8 as xid, 0::smallint as sign, updated_at, id, status from projects with no data;
create index on projects_directory_changes (xid);
alter table projects_directory_changes alter xid set not null, alter sign set not null, replica identity full,
  set (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
--> statement-breakpoint
-- The snapshot of the last fold: it counted all changes except those of transactions from `folded_below` on and
-- those that were `running`. No counted row comes after the key. Sessions that change buckets lock this row.
create table projects_directory_state as
  select true as one, '0'::xid8 as folded_below, '{}'::xid8[] as running, updated_at, id from projects with no data;
alter table projects_directory_state add primary key (one), add check (one), alter folded_below set not null, alter running set not null;
insert into projects_directory_state (one, folded_below, running) values (true, '0', '{}');
--> statement-breakpoint
create function projects_directory_log() returns trigger language plpgsql as $$
declare
  -- An id below folded_below that was not running: a dump was restored into a cluster with lower ids.
  writer xid8 := (select case when pg_current_xact_id() = any (running) then pg_current_xact_id()
    else greatest(pg_current_xact_id(), folded_below) end from projects_directory_state);
begin
  if tg_op = 'INSERT' then
    insert into projects_directory_changes (xid, sign, updated_at, id, status) select writer, 1, updated_at, id, status from new_rows;
  elsif tg_op = 'DELETE' then
    insert into projects_directory_changes (xid, sign, updated_at, id, status) select writer, -1, updated_at, id, status from old_rows;
  elsif tg_op = 'UPDATE' then
    -- A row that kept its key and filters cancels out.
    insert into projects_directory_changes (xid, sign, updated_at, id, status) select writer, sum(sign), updated_at, id, status
    from (select 1 as sign, updated_at, id, status from new_rows union all select -1, updated_at, id, status from old_rows) moved
    group by updated_at, id, status having sum(sign) <> 0;
  else
    truncate projects_directory_buckets, projects_directory_changes;
    update projects_directory_state set updated_at = null, id = null;
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger projects_directory_insert after insert on projects
  referencing new table as new_rows for each statement execute function projects_directory_log();
create trigger projects_directory_update after update on projects
  referencing old table as old_rows new table as new_rows for each statement execute function projects_directory_log();
create trigger projects_directory_delete after delete on projects
  referencing old table as old_rows for each statement execute function projects_directory_log();
create trigger projects_directory_truncate after truncate on projects
  for each statement execute function projects_directory_log();
--> statement-breakpoint
-- The change feed: written by installSql() of @platform/feed, whose README explains it.
-- What was written, by the transaction that wrote it. Nobody reads it but the mover, which takes the rows away.
create table feed_pending (
  id bigint generated always as identity primary key,
  xid xid8 not null default pg_current_xact_id(),
  list text not null,
  record text not null,
  owner text,
  action text not null
) with (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
--> statement-breakpoint
-- The changes in their order. Rows that were moved at once have the same stamp, by which a cursor is recognised.
create table feed_log (
  position bigint primary key,
  stamp bigint not null,
  list text not null,
  record text not null,
  owner text,
  action text not null,
  changed_at timestamptz not null
);
create index feed_log_by_age on feed_log using brin (changed_at);
--> statement-breakpoint
-- The last row of the log, which stays known when the log has been pruned. Whoever moves changes locks this row.
create table feed_state (
  one boolean primary key default true check (one),
  epoch uuid not null default gen_random_uuid(),
  position bigint not null,
  stamp bigint not null
);
insert into feed_state (position, stamp) values (0, 0);
insert into feed_log (position, stamp, list, record, action, changed_at) values (0, 0, '', '', '', now());
--> statement-breakpoint
create function feed_refuse_truncate() returns trigger language plpgsql as $$
begin
  raise exception 'the change feed would miss a TRUNCATE of %: delete the rows', tg_table_name;
end $$;
--> statement-breakpoint
create function projects_feed() returns trigger language plpgsql
  -- Its plans are kept: one that was made for a single row would compare each old row of a batch with each new one.
  set enable_nestloop = off set enable_hashjoin = on as $$
begin
  -- The rows are locked, so the ids of the changes of one record rise in the order of their commits.
  if tg_op = 'INSERT' then
    insert into feed_pending (list, record, owner, action)
      select 'projects', new_rows.id, new_rows.client::text, 'created' from new_rows;
  elsif tg_op = 'DELETE' then
    insert into feed_pending (list, record, owner, action)
      select 'projects', old_rows.id, old_rows.client::text, 'deleted' from old_rows;
  else
    with changed as (
        select new_rows.id as record, old_rows.client::text as before, new_rows.client::text as after
        from old_rows join new_rows using (id) where old_rows.* *<> new_rows.*)
    insert into feed_pending (list, record, owner, action)
      select 'projects', record, owner, action from (
        select 1 as step, record, before as owner, 'deleted' as action from changed where before is distinct from after
        union all
        select 2, record, after, case when before is distinct from after then 'created' else 'updated' end from changed
      ) changes order by step;
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger projects_feed_insert after insert on projects
  referencing new table as new_rows for each statement execute function projects_feed();
create trigger projects_feed_update after update on projects
  referencing old table as old_rows new table as new_rows for each statement execute function projects_feed();
create trigger projects_feed_delete after delete on projects
  referencing old table as old_rows for each statement execute function projects_feed();
create trigger projects_feed_truncate before truncate on projects
  for each statement execute function feed_refuse_truncate();
--> statement-breakpoint
create function deliverables_feed() returns trigger language plpgsql
  -- Its plans are kept: one that was made for a single row would compare each old row of a batch with each new one.
  set enable_nestloop = off set enable_hashjoin = on as $$
begin
  -- The rows are locked, so the ids of the changes of one record rise in the order of their commits.
  if tg_op = 'INSERT' then
    insert into feed_pending (list, record, owner, action)
      select 'deliverables', new_rows.id, new_rows.client::text, 'created' from new_rows;
  elsif tg_op = 'DELETE' then
    insert into feed_pending (list, record, owner, action)
      select 'deliverables', old_rows.id, old_rows.client::text, 'deleted' from old_rows;
  else
    with changed as (
        select new_rows.id as record, old_rows.client::text as before, new_rows.client::text as after
        from old_rows join new_rows using (id) where old_rows.* *<> new_rows.*)
    insert into feed_pending (list, record, owner, action)
      select 'deliverables', record, owner, action from (
        select 1 as step, record, before as owner, 'deleted' as action from changed where before is distinct from after
        union all
        select 2, record, after, case when before is distinct from after then 'created' else 'updated' end from changed
      ) changes order by step;
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger deliverables_feed_insert after insert on deliverables
  referencing new table as new_rows for each statement execute function deliverables_feed();
create trigger deliverables_feed_update after update on deliverables
  referencing old table as old_rows new table as new_rows for each statement execute function deliverables_feed();
create trigger deliverables_feed_delete after delete on deliverables
  referencing old table as old_rows for each statement execute function deliverables_feed();
create trigger deliverables_feed_truncate before truncate on deliverables
  for each statement execute function feed_refuse_truncate();
--> statement-breakpoint
create function languages_feed() returns trigger language plpgsql
  -- Its plans are kept: one that was made for a single row would compare each old row of a batch with each new one.
  set enable_nestloop = off set enable_hashjoin = on as $$
begin
  -- The rows are locked, so the ids of the changes of one record rise in the order of their commits.
  if tg_op = 'INSERT' then
    insert into feed_pending (list, record, owner, action)
      select 'languages', new_rows.code, null::text, 'created' from new_rows;
  elsif tg_op = 'DELETE' then
    insert into feed_pending (list, record, owner, action)
      select 'languages', old_rows.code, null::text, 'deleted' from old_rows;
  else
    insert into feed_pending (list, record, owner, action)
      select 'languages', new_rows.code, null::text, 'updated' from old_rows join new_rows using (code) where old_rows.* *<> new_rows.*;
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger languages_feed_insert after insert on languages
  referencing new table as new_rows for each statement execute function languages_feed();
create trigger languages_feed_update after update on languages
  referencing old table as old_rows new table as new_rows for each statement execute function languages_feed();
create trigger languages_feed_delete after delete on languages
  referencing old table as old_rows for each statement execute function languages_feed();
create trigger languages_feed_truncate before truncate on languages
  for each statement execute function feed_refuse_truncate();
--> statement-breakpoint
-- Outgoing webhooks: written by subscriptionsSql of @platform/outgoing-webhooks, whose README explains it.
create table subscriptions (
  id uuid primary key,
  subject text not null,
  -- What its maker may see, as the service wrote it down.
  rights jsonb not null,
  url text not null,
  lists text[] not null,
  actions text[] not null,
  owners text[],
  ordering text not null,
  description text,
  state text not null default 'active',
  state_reason text,
  created_at timestamptz not null default now(),
  -- Which secret signs; the one before it does so for a day after it was replaced.
  generation integer not null default 1,
  rotated_at timestamptz,
  -- What is not behind this position was delivered, or is in subscription_held.
  position bigint not null,
  -- Failures since the last success, and when the first of them was.
  failures integer not null default 0,
  failing_since timestamptz,
  due_at timestamptz not null default now(),
  worker uuid,
  lease_until timestamptz not null default now()
);
create index subscriptions_by_subject on subscriptions (subject, id);
create index subscriptions_active on subscriptions (lease_until) where state = 'active';
--> statement-breakpoint
-- Changes that were not delivered when it was their turn. Those with one `lane` are delivered one after the other; all but
-- the first of a lane are due at infinity.
create table subscription_held (
  subscription uuid not null references subscriptions on delete cascade,
  position bigint not null,
  lane text not null,
  list text not null,
  record text not null,
  action text not null,
  changed_at timestamptz not null,
  attempts integer not null,
  due_at timestamptz not null,
  -- Since when it is not tried again.
  failed_at timestamptz,
  primary key (subscription, position)
);
create index subscription_held_lanes on subscription_held (subscription, lane, position) where failed_at is null;
create index subscription_held_due on subscription_held (subscription, due_at) where failed_at is null;
create index subscription_held_failed on subscription_held (failed_at) where failed_at is not null;
--> statement-breakpoint
create table subscription_attempts (
  id bigint generated always as identity primary key,
  subscription uuid not null references subscriptions on delete cascade,
  sent_at timestamptz not null,
  event text not null,
  type text not null,
  record text,
  attempt integer not null,
  status integer,
  ms integer not null,
  error text,
  answer text
);
create index subscription_attempts_by_subscription on subscription_attempts (subscription, id);
create index subscription_attempts_failed on subscription_attempts (subscription, id) where error is not null;
create index subscription_attempts_by_age on subscription_attempts using brin (sent_at);
