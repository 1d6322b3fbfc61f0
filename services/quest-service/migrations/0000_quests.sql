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
create function quests_feed() returns trigger language plpgsql
  -- Its plans are kept: one that was made for a single row would compare each old row of a batch with each new one.
  set enable_nestloop = off set enable_hashjoin = on as $$
begin
  -- The rows are locked, so the ids of the changes of one record rise in the order of their commits.
  if tg_op = 'INSERT' then
    insert into feed_pending (list, record, owner, action)
      select 'quests', new_rows.quest_id, new_rows.audience::text, 'created' from new_rows;
  elsif tg_op = 'DELETE' then
    insert into feed_pending (list, record, owner, action)
      select 'quests', old_rows.quest_id, old_rows.audience::text, 'deleted' from old_rows;
  else
    with changed as (
        select new_rows.quest_id as record, old_rows.audience::text as before, new_rows.audience::text as after
        from old_rows join new_rows using (quest_id) where old_rows.* *<> new_rows.*)
    insert into feed_pending (list, record, owner, action)
      select 'quests', record, owner, action from (
        select 1 as step, record, before as owner, 'deleted' as action from changed where before is distinct from after
        union all
        select 2, record, after, case when before is distinct from after then 'created' else 'updated' end from changed
      ) changes order by step;
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger quests_feed_insert after insert on quests
  referencing new table as new_rows for each statement execute function quests_feed();
create trigger quests_feed_update after update on quests
  referencing old table as old_rows new table as new_rows for each statement execute function quests_feed();
create trigger quests_feed_delete after delete on quests
  referencing old table as old_rows for each statement execute function quests_feed();
create trigger quests_feed_truncate before truncate on quests
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
