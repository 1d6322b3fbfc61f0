-- Trigram indexes, for SearchText. The owner of a database may create this one.
create schema if not exists extensions;
create extension if not exists pg_trgm with schema extensions;
--> statement-breakpoint
CREATE TABLE "consignment_details" (
	"id" uuid PRIMARY KEY NOT NULL,
	"details" json NOT NULL,
	"named_ids" uuid[] NOT NULL
);
--> statement-breakpoint
CREATE TABLE "consignments" (
	"id" uuid PRIMARY KEY NOT NULL,
	"consignment_number" text NOT NULL,
	"client_id" uuid NOT NULL,
	"client_name" text NOT NULL,
	"carrier_id" uuid,
	"warehouse_id" uuid,
	"status" integer NOT NULL,
	"edi_status" integer NOT NULL,
	"external_id" text,
	"reference" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"search_text" text GENERATED ALWAYS AS (casefold((case when octet_length(consignment_number || chr(31) || client_name || chr(31) || coalesce(external_id, '') || chr(31) || coalesce(reference, '')) = char_length(consignment_number || chr(31) || client_name || chr(31) || coalesce(external_id, '') || chr(31) || coalesce(reference, '')) then (consignment_number || chr(31) || client_name || chr(31) || coalesce(external_id, '') || chr(31) || coalesce(reference, '')) else normalize((consignment_number || chr(31) || client_name || chr(31) || coalesce(external_id, '') || chr(31) || coalesce(reference, '')), nfc) end) collate "pg_unicode_fast")) STORED NOT NULL,
	CONSTRAINT "consignments_status_known" CHECK ("consignments"."status" between 0 and 8),
	CONSTRAINT "consignments_edi_status_known" CHECK ("consignments"."edi_status" between 0 and 4)
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
CREATE TABLE "import_results" (
	"owner" text NOT NULL,
	"import_id" text NOT NULL,
	"slice" integer NOT NULL,
	"results" json NOT NULL,
	"stored_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "import_results_owner_import_id_slice_pk" PRIMARY KEY("owner","import_id","slice")
);
--> statement-breakpoint
CREATE TABLE "inventory" (
	"id" uuid PRIMARY KEY NOT NULL,
	"partner_id" uuid NOT NULL,
	"partner_product_id" text NOT NULL,
	"product_code" text NOT NULL,
	"description" text NOT NULL,
	"warehouse_id" uuid NOT NULL,
	"quantity" integer NOT NULL,
	"reserved" integer NOT NULL,
	"held" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"in_stock" boolean GENERATED ALWAYS AS (quantity > 0) STORED NOT NULL,
	"stocked_partner_id" uuid GENERATED ALWAYS AS (case when quantity > 0 then partner_id end) STORED,
	"stocked_warehouse_id" uuid GENERATED ALWAYS AS (case when quantity > 0 then warehouse_id end) STORED,
	"search_text" text GENERATED ALWAYS AS (casefold((case when octet_length(product_code || chr(31) || description || chr(31) || partner_product_id) = char_length(product_code || chr(31) || description || chr(31) || partner_product_id) then (product_code || chr(31) || description || chr(31) || partner_product_id) else normalize((product_code || chr(31) || description || chr(31) || partner_product_id), nfc) end) collate "pg_unicode_fast")) STORED NOT NULL,
	CONSTRAINT "inventory_stock_kept" CHECK (0 <= "inventory"."held" and "inventory"."held" <= "inventory"."reserved" and "inventory"."reserved" <= "inventory"."quantity")
);
--> statement-breakpoint
CREATE TABLE "partners" (
	"id" uuid PRIMARY KEY NOT NULL,
	"code" text NOT NULL,
	"name" text NOT NULL,
	"relationships" integer[] NOT NULL,
	"relationship" integer GENERATED ALWAYS AS (relationships[1]) STORED NOT NULL,
	"status" integer NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"search_text" text GENERATED ALWAYS AS (casefold((case when octet_length(name || chr(31) || code) = char_length(name || chr(31) || code) then (name || chr(31) || code) else normalize((name || chr(31) || code), nfc) end) collate "pg_unicode_fast")) STORED NOT NULL,
	CONSTRAINT "partners_relationships_known" CHECK ("partners"."relationships" <@ '{0,1,2,3}'),
	CONSTRAINT "partners_status_known" CHECK ("partners"."status" between 0 and 1)
);
--> statement-breakpoint
CREATE TABLE "status_changes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"consignment_id" uuid NOT NULL,
	"from_status" integer NOT NULL,
	"to_status" integer NOT NULL,
	"forced" boolean NOT NULL,
	"reason" text,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "stock_movements" (
	"id" uuid PRIMARY KEY NOT NULL,
	"inventory_id" uuid NOT NULL,
	"quantity" integer NOT NULL,
	"reserved" integer NOT NULL,
	"reference" text,
	"reason" text,
	"consignment_id" uuid,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "warehouses" (
	"id" uuid PRIMARY KEY NOT NULL,
	"code" text NOT NULL,
	"name" text NOT NULL,
	"city" text NOT NULL,
	"country_code" text NOT NULL,
	"status" integer NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"search_text" text GENERATED ALWAYS AS (casefold((case when octet_length(name || chr(31) || code || chr(31) || city) = char_length(name || chr(31) || code || chr(31) || city) then (name || chr(31) || code || chr(31) || city) else normalize((name || chr(31) || code || chr(31) || city), nfc) end) collate "pg_unicode_fast")) STORED NOT NULL,
	CONSTRAINT "warehouses_status_known" CHECK ("warehouses"."status" between 0 and 1)
);
--> statement-breakpoint
ALTER TABLE "status_changes" ADD CONSTRAINT "status_changes_consignment_id_consignments_id_fk" FOREIGN KEY ("consignment_id") REFERENCES "consignments"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "stock_movements" ADD CONSTRAINT "stock_movements_inventory_id_inventory_id_fk" FOREIGN KEY ("inventory_id") REFERENCES "inventory"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "consignment_details" ADD CONSTRAINT "consignment_details_id_consignments_id_fk" FOREIGN KEY ("id") REFERENCES "consignments"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "consignment_details_by_named_id" ON "consignment_details" USING gin ("named_ids");--> statement-breakpoint
CREATE INDEX "consignments_order" ON "consignments" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "consignments_by_client" ON "consignments" USING btree ("client_id","created_at","id","status","edi_status");--> statement-breakpoint
CREATE INDEX "consignments_by_warehouse" ON "consignments" USING btree ("warehouse_id","created_at","id","status","edi_status");--> statement-breakpoint
CREATE INDEX "consignments_by_carrier" ON "consignments" USING btree ("carrier_id","created_at","id","status","edi_status");--> statement-breakpoint
CREATE INDEX "consignments_by_status" ON "consignments" USING btree ("status","created_at","id","edi_status");--> statement-breakpoint
CREATE INDEX "consignments_by_edi_status" ON "consignments" USING btree ("edi_status","created_at","id");--> statement-breakpoint
CREATE INDEX "consignments_search" ON "consignments" USING gin ("search_text" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "consignments_external_id" ON "consignments" USING btree ("external_id","created_at","id");--> statement-breakpoint
CREATE INDEX "idempotency_keys_by_age" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "import_results_by_age" ON "import_results" USING btree ("stored_at");--> statement-breakpoint
CREATE INDEX "inventory_order" ON "inventory" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "inventory_by_partner" ON "inventory" USING btree ("partner_id","created_at","id");--> statement-breakpoint
CREATE INDEX "inventory_by_warehouse" ON "inventory" USING btree ("warehouse_id","created_at","id");--> statement-breakpoint
CREATE INDEX "inventory_by_stocked_partner" ON "inventory" USING btree ("stocked_partner_id","created_at","id");--> statement-breakpoint
CREATE INDEX "inventory_by_stocked_warehouse" ON "inventory" USING btree ("stocked_warehouse_id","created_at","id");--> statement-breakpoint
CREATE INDEX "inventory_by_in_stock" ON "inventory" USING btree ("in_stock","created_at","id");--> statement-breakpoint
CREATE INDEX "inventory_search" ON "inventory" USING gin ("search_text" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "inventory_partner_product_id" ON "inventory" USING btree ("partner_product_id","created_at","id");--> statement-breakpoint
CREATE INDEX "partners_newest" ON "partners" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "partners_search" ON "partners" USING gin ("search_text" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "status_changes_order" ON "status_changes" USING btree ("consignment_id","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "stock_movements_once" ON "stock_movements" USING btree ("inventory_id","reference");--> statement-breakpoint
CREATE INDEX "stock_movements_order" ON "stock_movements" USING btree ("inventory_id","created_at","id");--> statement-breakpoint
CREATE INDEX "stock_movements_by_consignment" ON "stock_movements" USING btree ("consignment_id") WHERE consignment_id is not null;--> statement-breakpoint
CREATE INDEX "warehouses_newest" ON "warehouses" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "warehouses_search" ON "warehouses" USING gin ("search_text" gin_trgm_ops);
--> statement-breakpoint
-- The page directory of consignments: written by installSql() of @platform/pagination, whose README explains it.
-- A bucket holds the rows from its key to the key of the next bucket; `n` counts them, without the changes below.
create table consignments_directory_buckets as
  select ''::text as filter, ''::text as value, created_at, id, 0 as n from consignments with no data;
alter table consignments_directory_buckets add primary key (filter, value, created_at, id), alter n set not null,
  set (fillfactor = 50);
create index on consignments_directory_buckets (created_at, id);
--> statement-breakpoint
-- One row for each row that entered (1) or left (-1) the list. Writers only insert here: none waits for another.
-- Without a primary key, which would cost every writer more; logical replication knows a row by all its columns.
create table consignments_directory_changes as
  select null::xid8 as xid, 0::smallint as sign, created_at, id, client_id, warehouse_id, carrier_id, status, edi_status from consignments with no data;
create index on consignments_directory_changes (xid);
alter table consignments_directory_changes alter xid set not null, alter sign set not null, replica identity full,
  set (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
--> statement-breakpoint
-- The snapshot of the last fold: it counted all changes except those of transactions from `folded_below` on and
-- those that were `running`. No counted row comes after the key. Sessions that change buckets lock this row.
create table consignments_directory_state as
  select true as one, '0'::xid8 as folded_below, '{}'::xid8[] as running, created_at, id from consignments with no data;
alter table consignments_directory_state add primary key (one), add check (one), alter folded_below set not null, alter running set not null;
insert into consignments_directory_state (one, folded_below, running) values (true, '0', '{}');
--> statement-breakpoint
create function consignments_directory_log() returns trigger language plpgsql as $$
declare
  -- An id below folded_below that was not running: a dump was restored into a cluster with lower ids.
  writer xid8 := (select case when pg_current_xact_id() = any (running) then pg_current_xact_id()
    else greatest(pg_current_xact_id(), folded_below) end from consignments_directory_state);
begin
  if tg_op = 'INSERT' then
    insert into consignments_directory_changes (xid, sign, created_at, id, client_id, warehouse_id, carrier_id, status, edi_status) select writer, 1, created_at, id, client_id, warehouse_id, carrier_id, status, edi_status from new_rows;
  elsif tg_op = 'DELETE' then
    insert into consignments_directory_changes (xid, sign, created_at, id, client_id, warehouse_id, carrier_id, status, edi_status) select writer, -1, created_at, id, client_id, warehouse_id, carrier_id, status, edi_status from old_rows;
  elsif tg_op = 'UPDATE' then
    -- A row that kept its key and filters cancels out.
    insert into consignments_directory_changes (xid, sign, created_at, id, client_id, warehouse_id, carrier_id, status, edi_status) select writer, sum(sign), created_at, id, client_id, warehouse_id, carrier_id, status, edi_status
    from (select 1 as sign, created_at, id, client_id, warehouse_id, carrier_id, status, edi_status from new_rows union all select -1, created_at, id, client_id, warehouse_id, carrier_id, status, edi_status from old_rows) moved
    group by created_at, id, client_id, warehouse_id, carrier_id, status, edi_status having sum(sign) <> 0;
  else
    truncate consignments_directory_buckets, consignments_directory_changes;
    update consignments_directory_state set created_at = null, id = null;
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger consignments_directory_insert after insert on consignments
  referencing new table as new_rows for each statement execute function consignments_directory_log();
create trigger consignments_directory_update after update on consignments
  referencing old table as old_rows new table as new_rows for each statement execute function consignments_directory_log();
create trigger consignments_directory_delete after delete on consignments
  referencing old table as old_rows for each statement execute function consignments_directory_log();
create trigger consignments_directory_truncate after truncate on consignments
  for each statement execute function consignments_directory_log();
--> statement-breakpoint
-- The page directory of inventory: written by installSql() of @platform/pagination, whose README explains it.
-- A bucket holds the rows from its key to the key of the next bucket; `n` counts them, without the changes below.
create table inventory_directory_buckets as
  select ''::text as filter, ''::text as value, created_at, id, 0 as n from inventory with no data;
alter table inventory_directory_buckets add primary key (filter, value, created_at, id), alter n set not null,
  set (fillfactor = 50);
create index on inventory_directory_buckets (created_at, id);
--> statement-breakpoint
-- One row for each row that entered (1) or left (-1) the list. Writers only insert here: none waits for another.
-- Without a primary key, which would cost every writer more; logical replication knows a row by all its columns.
create table inventory_directory_changes as
  select null::xid8 as xid, 0::smallint as sign, created_at, id, stocked_partner_id, partner_id, stocked_warehouse_id, warehouse_id, in_stock from inventory with no data;
create index on inventory_directory_changes (xid);
alter table inventory_directory_changes alter xid set not null, alter sign set not null, replica identity full,
  set (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
--> statement-breakpoint
-- The snapshot of the last fold: it counted all changes except those of transactions from `folded_below` on and
-- those that were `running`. No counted row comes after the key. Sessions that change buckets lock this row.
create table inventory_directory_state as
  select true as one, '0'::xid8 as folded_below, '{}'::xid8[] as running, created_at, id from inventory with no data;
alter table inventory_directory_state add primary key (one), add check (one), alter folded_below set not null, alter running set not null;
insert into inventory_directory_state (one, folded_below, running) values (true, '0', '{}');
--> statement-breakpoint
create function inventory_directory_log() returns trigger language plpgsql as $$
declare
  -- An id below folded_below that was not running: a dump was restored into a cluster with lower ids.
  writer xid8 := (select case when pg_current_xact_id() = any (running) then pg_current_xact_id()
    else greatest(pg_current_xact_id(), folded_below) end from inventory_directory_state);
begin
  if tg_op = 'INSERT' then
    insert into inventory_directory_changes (xid, sign, created_at, id, stocked_partner_id, partner_id, stocked_warehouse_id, warehouse_id, in_stock) select writer, 1, created_at, id, stocked_partner_id, partner_id, stocked_warehouse_id, warehouse_id, in_stock from new_rows;
  elsif tg_op = 'DELETE' then
    insert into inventory_directory_changes (xid, sign, created_at, id, stocked_partner_id, partner_id, stocked_warehouse_id, warehouse_id, in_stock) select writer, -1, created_at, id, stocked_partner_id, partner_id, stocked_warehouse_id, warehouse_id, in_stock from old_rows;
  elsif tg_op = 'UPDATE' then
    -- A row that kept its key and filters cancels out.
    insert into inventory_directory_changes (xid, sign, created_at, id, stocked_partner_id, partner_id, stocked_warehouse_id, warehouse_id, in_stock) select writer, sum(sign), created_at, id, stocked_partner_id, partner_id, stocked_warehouse_id, warehouse_id, in_stock
    from (select 1 as sign, created_at, id, stocked_partner_id, partner_id, stocked_warehouse_id, warehouse_id, in_stock from new_rows union all select -1, created_at, id, stocked_partner_id, partner_id, stocked_warehouse_id, warehouse_id, in_stock from old_rows) moved
    group by created_at, id, stocked_partner_id, partner_id, stocked_warehouse_id, warehouse_id, in_stock having sum(sign) <> 0;
  else
    truncate inventory_directory_buckets, inventory_directory_changes;
    update inventory_directory_state set created_at = null, id = null;
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger inventory_directory_insert after insert on inventory
  referencing new table as new_rows for each statement execute function inventory_directory_log();
create trigger inventory_directory_update after update on inventory
  referencing old table as old_rows new table as new_rows for each statement execute function inventory_directory_log();
create trigger inventory_directory_delete after delete on inventory
  referencing old table as old_rows for each statement execute function inventory_directory_log();
create trigger inventory_directory_truncate after truncate on inventory
  for each statement execute function inventory_directory_log();
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
create function consignments_feed() returns trigger language plpgsql
  -- Its plans are kept: one that was made for a single row would compare each old row of a batch with each new one.
  set enable_nestloop = off set enable_hashjoin = on as $$
begin
  -- The rows are locked, so the ids of the changes of one record rise in the order of their commits.
  if tg_op = 'INSERT' then
    insert into feed_pending (list, record, owner, action)
      select 'consignments', new_rows.id, new_rows.client_id::text, 'created' from new_rows;
  elsif tg_op = 'DELETE' then
    insert into feed_pending (list, record, owner, action)
      select 'consignments', old_rows.id, old_rows.client_id::text, 'deleted' from old_rows;
  else
    with changed as (
        select new_rows.id as record, old_rows.client_id::text as before, new_rows.client_id::text as after
        from old_rows join new_rows using (id) where old_rows.* *<> new_rows.*)
    insert into feed_pending (list, record, owner, action)
      select 'consignments', record, owner, action from (
        select 1 as step, record, before as owner, 'deleted' as action from changed where before is distinct from after
        union all
        select 2, record, after, case when before is distinct from after then 'created' else 'updated' end from changed
      ) changes order by step;
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger consignments_feed_insert after insert on consignments
  referencing new table as new_rows for each statement execute function consignments_feed();
create trigger consignments_feed_update after update on consignments
  referencing old table as old_rows new table as new_rows for each statement execute function consignments_feed();
create trigger consignments_feed_delete after delete on consignments
  referencing old table as old_rows for each statement execute function consignments_feed();
create trigger consignments_feed_truncate before truncate on consignments
  for each statement execute function feed_refuse_truncate();
--> statement-breakpoint
create function partners_feed() returns trigger language plpgsql
  -- Its plans are kept: one that was made for a single row would compare each old row of a batch with each new one.
  set enable_nestloop = off set enable_hashjoin = on as $$
begin
  -- The rows are locked, so the ids of the changes of one record rise in the order of their commits.
  if tg_op = 'INSERT' then
    insert into feed_pending (list, record, owner, action)
      select 'partners', new_rows.id, new_rows.id::text, 'created' from new_rows;
  elsif tg_op = 'DELETE' then
    insert into feed_pending (list, record, owner, action)
      select 'partners', old_rows.id, old_rows.id::text, 'deleted' from old_rows;
  else
    insert into feed_pending (list, record, owner, action)
      select 'partners', new_rows.id, new_rows.id::text, 'updated' from old_rows join new_rows using (id) where old_rows.* *<> new_rows.*;
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger partners_feed_insert after insert on partners
  referencing new table as new_rows for each statement execute function partners_feed();
create trigger partners_feed_update after update on partners
  referencing old table as old_rows new table as new_rows for each statement execute function partners_feed();
create trigger partners_feed_delete after delete on partners
  referencing old table as old_rows for each statement execute function partners_feed();
create trigger partners_feed_truncate before truncate on partners
  for each statement execute function feed_refuse_truncate();
--> statement-breakpoint
create function inventory_feed() returns trigger language plpgsql
  -- Its plans are kept: one that was made for a single row would compare each old row of a batch with each new one.
  set enable_nestloop = off set enable_hashjoin = on as $$
begin
  -- The rows are locked, so the ids of the changes of one record rise in the order of their commits.
  if tg_op = 'INSERT' then
    insert into feed_pending (list, record, owner, action)
      select 'inventory', new_rows.id, new_rows.partner_id::text, 'created' from new_rows;
  elsif tg_op = 'DELETE' then
    insert into feed_pending (list, record, owner, action)
      select 'inventory', old_rows.id, old_rows.partner_id::text, 'deleted' from old_rows;
  else
    with changed as (
        select new_rows.id as record, old_rows.partner_id::text as before, new_rows.partner_id::text as after
        from old_rows join new_rows using (id) where old_rows.* *<> new_rows.*)
    insert into feed_pending (list, record, owner, action)
      select 'inventory', record, owner, action from (
        select 1 as step, record, before as owner, 'deleted' as action from changed where before is distinct from after
        union all
        select 2, record, after, case when before is distinct from after then 'created' else 'updated' end from changed
      ) changes order by step;
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger inventory_feed_insert after insert on inventory
  referencing new table as new_rows for each statement execute function inventory_feed();
create trigger inventory_feed_update after update on inventory
  referencing old table as old_rows new table as new_rows for each statement execute function inventory_feed();
create trigger inventory_feed_delete after delete on inventory
  referencing old table as old_rows for each statement execute function inventory_feed();
create trigger inventory_feed_truncate before truncate on inventory
  for each statement execute function feed_refuse_truncate();
--> statement-breakpoint
create function warehouses_feed() returns trigger language plpgsql
  -- Its plans are kept: one that was made for a single row would compare each old row of a batch with each new one.
  set enable_nestloop = off set enable_hashjoin = on as $$
begin
  -- The rows are locked, so the ids of the changes of one record rise in the order of their commits.
  if tg_op = 'INSERT' then
    insert into feed_pending (list, record, owner, action)
      select 'warehouses', new_rows.id, null::text, 'created' from new_rows;
  elsif tg_op = 'DELETE' then
    insert into feed_pending (list, record, owner, action)
      select 'warehouses', old_rows.id, null::text, 'deleted' from old_rows;
  else
    insert into feed_pending (list, record, owner, action)
      select 'warehouses', new_rows.id, null::text, 'updated' from old_rows join new_rows using (id) where old_rows.* *<> new_rows.*;
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger warehouses_feed_insert after insert on warehouses
  referencing new table as new_rows for each statement execute function warehouses_feed();
create trigger warehouses_feed_update after update on warehouses
  referencing old table as old_rows new table as new_rows for each statement execute function warehouses_feed();
create trigger warehouses_feed_delete after delete on warehouses
  referencing old table as old_rows for each statement execute function warehouses_feed();
create trigger warehouses_feed_truncate before truncate on warehouses
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
