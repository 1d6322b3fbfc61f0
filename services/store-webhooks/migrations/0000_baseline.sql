CREATE TABLE "event_reveals" (
	"store_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"event_id" uuid,
	"service" text,
	"transaction_id" text,
	"kind" text NOT NULL,
	"revealed_by" text NOT NULL,
	"request_id" text NOT NULL,
	"revealed_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "event_reveals_store_id_id_pk" PRIMARY KEY("store_id","id")
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
CREATE TABLE "payment_challenges" (
	"store_id" uuid NOT NULL,
	"service" text NOT NULL,
	"three_ds_server_trans_id" text NOT NULL,
	"transaction_id" text NOT NULL,
	"outcome" text,
	"outcome_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "payment_challenges_service_three_ds_server_trans_id_pk" PRIMARY KEY("service","three_ds_server_trans_id")
);
--> statement-breakpoint
CREATE TABLE "payments" (
	"store_id" uuid NOT NULL,
	"service" text NOT NULL,
	"transaction_id" text NOT NULL,
	"id" uuid DEFAULT uuidv7() NOT NULL,
	"order_id" text NOT NULL,
	"three_ds_server_trans_id" text,
	"status" text DEFAULT 'pending' NOT NULL,
	"eci" text,
	"settled_at" timestamp (3) with time zone,
	"settled_by" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "payments_store_id_service_transaction_id_pk" PRIMARY KEY("store_id","service","transaction_id")
);
--> statement-breakpoint
CREATE TABLE "store_changes" (
	"store_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"changed_by" text NOT NULL,
	"changed_at" timestamp (3) with time zone NOT NULL,
	"before" jsonb NOT NULL,
	"after" jsonb NOT NULL,
	CONSTRAINT "store_changes_store_id_id_pk" PRIMARY KEY("store_id","id")
);
--> statement-breakpoint
CREATE TABLE "stores" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"store_url" text NOT NULL,
	"settings" jsonb NOT NULL,
	"credentials" text NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_tokens" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"store_id" uuid NOT NULL,
	"purpose" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"grace_until" timestamp (3) with time zone,
	"uses" bigint DEFAULT 0 NOT NULL,
	"last_used_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "events" (
	"store_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"event" text NOT NULL,
	"service" text,
	"entity" text,
	"dedup" "bytea" NOT NULL,
	"body" "bytea" NOT NULL,
	"headers" jsonb NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	"body_hash" "bytea",
	CONSTRAINT "events_store_id_id_pk" PRIMARY KEY("store_id","id"),
	CONSTRAINT "events_dedup" UNIQUE("store_id","dedup")
);
--> statement-breakpoint
CREATE TABLE "queue" (
	"store_id" uuid NOT NULL,
	"entity" text NOT NULL,
	"id" uuid NOT NULL,
	"queued_at" timestamp (3) with time zone NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"worker" uuid,
	"attempts" integer NOT NULL,
	"crashes" integer DEFAULT 0 NOT NULL,
	"error" text,
	"is_remapped" boolean DEFAULT false NOT NULL,
	CONSTRAINT "queue_store_id_entity_id_pk" PRIMARY KEY("store_id","entity","id")
);
--> statement-breakpoint
CREATE TABLE "results" (
	"store_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"state" text NOT NULL,
	"attempts" integer NOT NULL,
	"error" text,
	"finished_at" timestamp (3) with time zone NOT NULL,
	"note" text,
	"dismissed_by" text,
	"dismissed_at" timestamp (3) with time zone,
	CONSTRAINT "results_store_id_id_pk" PRIMARY KEY("store_id","id")
);
--> statement-breakpoint
CREATE TABLE "workers" (
	"id" uuid PRIMARY KEY NOT NULL,
	"alive_until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "delivery_jobs" (
	"store_id" uuid NOT NULL,
	"id" text NOT NULL,
	"order_id" text,
	"position" integer NOT NULL,
	"status" text,
	"driver_id" text,
	"driver" jsonb,
	"estimated_arrival" timestamp (3) with time zone,
	"assigned_at" timestamp (3) with time zone,
	"started_at" timestamp (3) with time zone,
	"arrived_at" timestamp (3) with time zone,
	"completed_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	"later_position" integer,
	"later_stage_at" timestamp (3) with time zone,
	"event_id" uuid NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "delivery_jobs_store_id_id_pk" PRIMARY KEY("store_id","id")
);
--> statement-breakpoint
CREATE TABLE "import_jobs" (
	"store_id" uuid NOT NULL,
	"member_id" text NOT NULL,
	"id" uuid NOT NULL,
	"state" text DEFAULT 'pending' NOT NULL,
	"worker" uuid,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"error" text,
	"user_id" uuid,
	"created_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone,
	CONSTRAINT "import_jobs_store_id_member_id_pk" PRIMARY KEY("store_id","member_id")
);
--> statement-breakpoint
CREATE TABLE "members" (
	"store_id" uuid NOT NULL,
	"id" text NOT NULL,
	"email" text,
	"first_name" text,
	"last_name" text,
	"phone" text,
	"status" text,
	"type" text,
	"version" bigint,
	"event_id" uuid NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "members_store_id_id_pk" PRIMARY KEY("store_id","id")
);
--> statement-breakpoint
CREATE TABLE "notifications" (
	"store_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"key" text NOT NULL,
	"kind" text NOT NULL,
	"audience" text NOT NULL,
	"change" text NOT NULL,
	"subject" text NOT NULL,
	"reference" text,
	"consumer_id" text,
	"event_id" uuid,
	"mail" text NOT NULL,
	"resends" integer DEFAULT 0 NOT NULL,
	"worker" uuid,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"error" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"sent_at" timestamp (3) with time zone,
	CONSTRAINT "notifications_store_id_id_pk" PRIMARY KEY("store_id","id"),
	CONSTRAINT "notifications_key" UNIQUE("store_id","key")
);
--> statement-breakpoint
CREATE TABLE "orders" (
	"store_id" uuid NOT NULL,
	"id" text NOT NULL,
	"status" text NOT NULL,
	"consumer_id" text,
	"version" bigint,
	-- Not compressed, so that the size of a page is known before it is read.
	"details" jsonb STORAGE EXTERNAL NOT NULL,
	"event_id" uuid NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "orders_store_id_id_pk" PRIMARY KEY("store_id","id")
);
--> statement-breakpoint
CREATE TABLE "users" (
	"store_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"consumer_user_id" text NOT NULL,
	"email" text,
	"first_name" text,
	"last_name" text,
	"phone" text,
	"language" text,
	"version" bigint,
	"refreshed_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "users_store_id_id_pk" PRIMARY KEY("store_id","id"),
	CONSTRAINT "users_consumer" UNIQUE("store_id","consumer_user_id")
);
--> statement-breakpoint
CREATE TABLE "verifications" (
	"store_id" uuid NOT NULL,
	"service" text NOT NULL,
	"transaction_id" text NOT NULL,
	"status" text NOT NULL,
	"user_id" text,
	"completed" boolean NOT NULL,
	"version" bigint,
	"event_id" uuid NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "verifications_store_id_service_transaction_id_pk" PRIMARY KEY("store_id","service","transaction_id")
);
--> statement-breakpoint
CREATE INDEX "idempotency_keys_by_age" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "payment_challenges_outcome" ON "payment_challenges" USING btree ("outcome_at") WHERE outcome is not null;--> statement-breakpoint
CREATE INDEX "payment_challenges_store" ON "payment_challenges" USING btree ("store_id");--> statement-breakpoint
CREATE INDEX "payments_transaction_anywhere" ON "payments" USING btree ("service",lower(transaction_id));--> statement-breakpoint
CREATE INDEX "payments_latest" ON "payments" USING btree ("store_id","id");--> statement-breakpoint
CREATE INDEX "payments_order" ON "payments" USING btree ("store_id","order_id");--> statement-breakpoint
CREATE INDEX "stores_updated" ON "stores" USING btree ("updated_at");--> statement-breakpoint
CREATE INDEX "webhook_tokens_store" ON "webhook_tokens" USING btree ("store_id");--> statement-breakpoint
CREATE INDEX "events_entity" ON "events" USING btree ("store_id",substr(entity, strpos(entity, ':') + 1),"id") WHERE entity is not null;--> statement-breakpoint
CREATE INDEX "events_subject" ON "events" USING btree ("store_id",substr(dedup, 1, 8),"id");--> statement-breakpoint
CREATE INDEX "events_request" ON "events" USING brin ((headers ->> 'x-request-id') text_bloom_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "queue_due" ON "queue" USING btree ("due_at") WHERE crashes <= 2;--> statement-breakpoint
CREATE INDEX "queue_suspects" ON "queue" USING btree ("due_at") WHERE crashes > 2;--> statement-breakpoint
CREATE INDEX "results_state" ON "results" USING btree ("store_id","state","id") WHERE state <> 'done';--> statement-breakpoint
CREATE INDEX "delivery_jobs_latest" ON "delivery_jobs" USING btree ("store_id","event_id");--> statement-breakpoint
CREATE INDEX "delivery_jobs_order" ON "delivery_jobs" USING btree ("store_id","order_id");--> statement-breakpoint
CREATE INDEX "import_jobs_latest" ON "import_jobs" USING btree ("store_id","id");--> statement-breakpoint
CREATE INDEX "import_jobs_due" ON "import_jobs" USING btree ("store_id","due_at") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "members_latest" ON "members" USING btree ("store_id","event_id");--> statement-breakpoint
CREATE INDEX "notifications_reference" ON "notifications" USING btree ("store_id","reference");--> statement-breakpoint
CREATE INDEX "notifications_due" ON "notifications" USING btree ("store_id","due_at") WHERE mail = 'pending';--> statement-breakpoint
CREATE INDEX "notifications_consumer" ON "notifications" USING btree ("store_id","consumer_id");--> statement-breakpoint
CREATE INDEX "orders_latest" ON "orders" USING btree ("store_id","event_id");--> statement-breakpoint
CREATE INDEX "orders_number" ON "orders" USING btree ("store_id",(details ->> 'orderNo'));--> statement-breakpoint
CREATE INDEX "orders_consumer" ON "orders" USING btree ("store_id","consumer_id","event_id");--> statement-breakpoint
CREATE INDEX "verifications_latest" ON "verifications" USING btree ("store_id","event_id");--> statement-breakpoint
CREATE INDEX "verifications_user" ON "verifications" USING btree ("store_id","user_id","event_id");--> statement-breakpoint
CREATE VIEW "inbox" AS (
  select e.store_id, e.id, e.event, e.service, e.entity, e.dedup, e.body, e.headers, e.received_at,
    coalesce(r.state, 'pending') as state, coalesce(q.attempts, r.attempts) as attempts, q.due_at,
    coalesce(q.error, r.error) as error, r.finished_at,
    r.note, r.dismissed_by, r.dismissed_at
  from events e
  left join queue q on q.store_id = e.store_id and q.entity = coalesce(e.entity, e.id::text) and q.id = e.id
  left join results r on r.store_id = e.store_id and r.id = e.id);--> statement-breakpoint
-- Soon visible to all, so that late pages of events skip rows by the index alone; nothing else is to be vacuumed then.
ALTER TABLE events SET (autovacuum_vacuum_insert_threshold = 5000, autovacuum_vacuum_insert_scale_factor = 0);--> statement-breakpoint
-- The index is read in a bitmap scan, which the connections of the service forbid (src/db/plans.ts).
CREATE FUNCTION events_of_request(request_id text) RETURNS SETOF uuid
  LANGUAGE sql STABLE SET enable_bitmapscan = on
  AS $$ SELECT id FROM events WHERE headers ->> 'x-request-id' = request_id $$;--> statement-breakpoint
-- An erasure finds the kept answers about a person among those of all stores.
CREATE INDEX idempotency_keys_created ON idempotency_keys ((answer::json ->> 'id'));
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
create function orders_feed() returns trigger language plpgsql
  -- Its plans are kept: one that was made for a single row would compare each old row of a batch with each new one.
  set enable_nestloop = off set enable_hashjoin = on as $$
begin
  -- The rows are locked, so the ids of the changes of one record rise in the order of their commits.
  if tg_op = 'INSERT' then
    insert into feed_pending (list, record, owner, action)
      select 'orders', new_rows.store_id || '/' || new_rows.id, new_rows.store_id::text, 'created' from new_rows;
  elsif tg_op = 'DELETE' then
    insert into feed_pending (list, record, owner, action)
      select 'orders', old_rows.store_id || '/' || old_rows.id, old_rows.store_id::text, 'deleted' from old_rows;
  else
    insert into feed_pending (list, record, owner, action)
      select 'orders', new_rows.store_id || '/' || new_rows.id, new_rows.store_id::text, 'updated' from old_rows join new_rows using (store_id, id) where old_rows.* *<> new_rows.*;
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger orders_feed_insert after insert on orders
  referencing new table as new_rows for each statement execute function orders_feed();
create trigger orders_feed_update after update on orders
  referencing old table as old_rows new table as new_rows for each statement execute function orders_feed();
create trigger orders_feed_delete after delete on orders
  referencing old table as old_rows for each statement execute function orders_feed();
create trigger orders_feed_truncate before truncate on orders
  for each statement execute function feed_refuse_truncate();
--> statement-breakpoint
create function members_feed() returns trigger language plpgsql
  -- Its plans are kept: one that was made for a single row would compare each old row of a batch with each new one.
  set enable_nestloop = off set enable_hashjoin = on as $$
begin
  -- The rows are locked, so the ids of the changes of one record rise in the order of their commits.
  if tg_op = 'INSERT' then
    insert into feed_pending (list, record, owner, action)
      select 'members', new_rows.store_id || '/' || new_rows.id, new_rows.store_id::text, 'created' from new_rows;
  elsif tg_op = 'DELETE' then
    insert into feed_pending (list, record, owner, action)
      select 'members', old_rows.store_id || '/' || old_rows.id, old_rows.store_id::text, 'deleted' from old_rows;
  else
    insert into feed_pending (list, record, owner, action)
      select 'members', new_rows.store_id || '/' || new_rows.id, new_rows.store_id::text, 'updated' from old_rows join new_rows using (store_id, id) where old_rows.* *<> new_rows.*;
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger members_feed_insert after insert on members
  referencing new table as new_rows for each statement execute function members_feed();
create trigger members_feed_update after update on members
  referencing old table as old_rows new table as new_rows for each statement execute function members_feed();
create trigger members_feed_delete after delete on members
  referencing old table as old_rows for each statement execute function members_feed();
create trigger members_feed_truncate before truncate on members
  for each statement execute function feed_refuse_truncate();
--> statement-breakpoint
create function delivery_jobs_feed() returns trigger language plpgsql
  -- Its plans are kept: one that was made for a single row would compare each old row of a batch with each new one.
  set enable_nestloop = off set enable_hashjoin = on as $$
begin
  -- The rows are locked, so the ids of the changes of one record rise in the order of their commits.
  if tg_op = 'INSERT' then
    insert into feed_pending (list, record, owner, action)
      select 'delivery-jobs', new_rows.store_id || '/' || new_rows.id, new_rows.store_id::text, 'created' from new_rows;
  elsif tg_op = 'DELETE' then
    insert into feed_pending (list, record, owner, action)
      select 'delivery-jobs', old_rows.store_id || '/' || old_rows.id, old_rows.store_id::text, 'deleted' from old_rows;
  else
    insert into feed_pending (list, record, owner, action)
      select 'delivery-jobs', new_rows.store_id || '/' || new_rows.id, new_rows.store_id::text, 'updated' from old_rows join new_rows using (store_id, id) where old_rows.* *<> new_rows.*;
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger delivery_jobs_feed_insert after insert on delivery_jobs
  referencing new table as new_rows for each statement execute function delivery_jobs_feed();
create trigger delivery_jobs_feed_update after update on delivery_jobs
  referencing old table as old_rows new table as new_rows for each statement execute function delivery_jobs_feed();
create trigger delivery_jobs_feed_delete after delete on delivery_jobs
  referencing old table as old_rows for each statement execute function delivery_jobs_feed();
create trigger delivery_jobs_feed_truncate before truncate on delivery_jobs
  for each statement execute function feed_refuse_truncate();
--> statement-breakpoint
create function verifications_feed() returns trigger language plpgsql
  -- Its plans are kept: one that was made for a single row would compare each old row of a batch with each new one.
  set enable_nestloop = off set enable_hashjoin = on as $$
begin
  -- The rows are locked, so the ids of the changes of one record rise in the order of their commits.
  if tg_op = 'INSERT' then
    insert into feed_pending (list, record, owner, action)
      select 'verifications', new_rows.store_id || '/' || new_rows.service || '/' || new_rows.transaction_id, new_rows.store_id::text, 'created' from new_rows;
  elsif tg_op = 'DELETE' then
    insert into feed_pending (list, record, owner, action)
      select 'verifications', old_rows.store_id || '/' || old_rows.service || '/' || old_rows.transaction_id, old_rows.store_id::text, 'deleted' from old_rows;
  else
    insert into feed_pending (list, record, owner, action)
      select 'verifications', new_rows.store_id || '/' || new_rows.service || '/' || new_rows.transaction_id, new_rows.store_id::text, 'updated' from old_rows join new_rows using (store_id, service, transaction_id) where old_rows.* *<> new_rows.*;
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger verifications_feed_insert after insert on verifications
  referencing new table as new_rows for each statement execute function verifications_feed();
create trigger verifications_feed_update after update on verifications
  referencing old table as old_rows new table as new_rows for each statement execute function verifications_feed();
create trigger verifications_feed_delete after delete on verifications
  referencing old table as old_rows for each statement execute function verifications_feed();
create trigger verifications_feed_truncate before truncate on verifications
  for each statement execute function feed_refuse_truncate();
--> statement-breakpoint
create function payments_feed() returns trigger language plpgsql
  -- Its plans are kept: one that was made for a single row would compare each old row of a batch with each new one.
  set enable_nestloop = off set enable_hashjoin = on as $$
begin
  -- The rows are locked, so the ids of the changes of one record rise in the order of their commits.
  if tg_op = 'INSERT' then
    insert into feed_pending (list, record, owner, action)
      select 'payments', new_rows.store_id || '/' || new_rows.service || '/' || new_rows.transaction_id, new_rows.store_id::text, 'created' from new_rows;
  elsif tg_op = 'DELETE' then
    insert into feed_pending (list, record, owner, action)
      select 'payments', old_rows.store_id || '/' || old_rows.service || '/' || old_rows.transaction_id, old_rows.store_id::text, 'deleted' from old_rows;
  else
    insert into feed_pending (list, record, owner, action)
      select 'payments', new_rows.store_id || '/' || new_rows.service || '/' || new_rows.transaction_id, new_rows.store_id::text, 'updated' from old_rows join new_rows using (store_id, service, transaction_id) where old_rows.* *<> new_rows.*;
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger payments_feed_insert after insert on payments
  referencing new table as new_rows for each statement execute function payments_feed();
create trigger payments_feed_update after update on payments
  referencing old table as old_rows new table as new_rows for each statement execute function payments_feed();
create trigger payments_feed_delete after delete on payments
  referencing old table as old_rows for each statement execute function payments_feed();
create trigger payments_feed_truncate before truncate on payments
  for each statement execute function feed_refuse_truncate();
--> statement-breakpoint
create function notifications_feed() returns trigger language plpgsql
  -- Its plans are kept: one that was made for a single row would compare each old row of a batch with each new one.
  set enable_nestloop = off set enable_hashjoin = on as $$
begin
  -- The rows are locked, so the ids of the changes of one record rise in the order of their commits.
  if tg_op = 'INSERT' then
    insert into feed_pending (list, record, owner, action)
      select 'notifications', new_rows.store_id || '/' || new_rows.id, new_rows.store_id::text, 'created' from new_rows;
  elsif tg_op = 'DELETE' then
    insert into feed_pending (list, record, owner, action)
      select 'notifications', old_rows.store_id || '/' || old_rows.id, old_rows.store_id::text, 'deleted' from old_rows;
  else
    insert into feed_pending (list, record, owner, action)
      select 'notifications', new_rows.store_id || '/' || new_rows.id, new_rows.store_id::text, 'updated' from old_rows join new_rows using (store_id, id) where old_rows.* *<> new_rows.*;
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger notifications_feed_insert after insert on notifications
  referencing new table as new_rows for each statement execute function notifications_feed();
create trigger notifications_feed_update after update on notifications
  referencing old table as old_rows new table as new_rows for each statement execute function notifications_feed();
create trigger notifications_feed_delete after delete on notifications
  referencing old table as old_rows for each statement execute function notifications_feed();
create trigger notifications_feed_truncate before truncate on notifications
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
