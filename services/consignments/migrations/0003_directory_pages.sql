do $$ declare routine regprocedure; begin
  for routine in select oid from pg_proc
    where pronamespace = 'public'::regnamespace and starts_with(proname, 'consignments_directory_')
  loop execute format('drop function %s cascade', routine); end loop;
end $$;
--> statement-breakpoint
drop table if exists public.consignments_directory, public.consignments_directory_shelves, public.consignments_directory_changes, public.consignments_directory_state;
--> statement-breakpoint
drop index if exists public.consignments_order_all;
create index consignments_order_all on public.consignments (created_at, id) include (status, edi_status);
--> statement-breakpoint
drop index if exists public.consignments_order_by_client_id;
create index consignments_order_by_client_id on public.consignments (client_id, created_at, id) include (status, edi_status);
--> statement-breakpoint
drop index if exists public.consignments_order_by_warehouse_id;
create index consignments_order_by_warehouse_id on public.consignments (warehouse_id, created_at, id) include (status, edi_status);
--> statement-breakpoint
drop index if exists public.consignments_order_by_carrier_id;
create index consignments_order_by_carrier_id on public.consignments (carrier_id, created_at, id) include (status, edi_status);
--> statement-breakpoint
drop index if exists public.consignments_order_by_status;
create index consignments_order_by_status on public.consignments (status, created_at, id) include (edi_status);
--> statement-breakpoint
drop index if exists public.consignments_order_by_edi_status;
create index consignments_order_by_edi_status on public.consignments (edi_status, created_at, id) include (status);
--> statement-breakpoint
-- A bucket holds the rows of one filter value from its key up to the next bucket's key. `n` counts them
-- but for the changes not yet folded in.
create table public.consignments_directory (
  filter text not null,
  value text not null,
  low_at timestamptz not null,
  low_id uuid not null,
  n integer not null,
  primary key (filter, value, low_at, low_id)
) with (fillfactor = 50);
--> statement-breakpoint
-- A shelf holds some neighbouring buckets: adding up goes over shelves first, then over the buckets of one.
-- `mark` is the exclusive or of the marks of all changes ever folded in.
create table public.consignments_directory_shelves (
  filter text not null,
  value text not null,
  low_at timestamptz not null,
  low_id uuid not null,
  n integer not null,
  mark bigint not null,
  primary key (filter, value, low_at, low_id)
) with (fillfactor = 50);
--> statement-breakpoint
-- One row for every row that came to (+1) or left (-1) its place in the list. Writers only ever add here, so
-- none waits for another. It sees the same commits and roll-backs as the list itself: that makes counts exact.
create table public.consignments_directory_changes as select client_id, warehouse_id, carrier_id, status, edi_status, created_at as at, id as id from public.consignments with no data;
--> statement-breakpoint
alter table public.consignments_directory_changes
  add sign smallint not null,
  add mark bigint not null default random(-9223372036854775808, 9223372036854775807),
  add xid xid8 not null;
--> statement-breakpoint
create index consignments_directory_changes_xid on public.consignments_directory_changes (xid);
--> statement-breakpoint
alter table public.consignments_directory_changes set (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_cost_delay = 0);
--> statement-breakpoint
-- Every change with a lower transaction id than `folded_to` has been folded in. Reading from there on steps
-- over none of the dead rows that folding leaves until they are vacuumed. Locked by whoever changes buckets.
create table public.consignments_directory_state (folded_to xid8 not null);
--> statement-breakpoint
insert into public.consignments_directory_state values ('0');
--> statement-breakpoint
create function public.consignments_directory_shelve(of_filter text, of_value text) returns void language plpgsql as $$
declare
  mark_so_far bigint;
begin
  select bit_xor(mark) into mark_so_far from public.consignments_directory_shelves where filter = of_filter and value = of_value;
  delete from public.consignments_directory_shelves where filter = of_filter and value = of_value;
  insert into public.consignments_directory_shelves
  select of_filter, of_value, low_at, low_id, n, case when place = 1 then mark_so_far else 0 end from (
    select low_at, low_id, row_number() over key as place,
      sum(n) over (key rows between current row and 31 following) as n
    from public.consignments_directory where filter = of_filter and value = of_value
    window key as (order by low_at, low_id)) run
  where place % 32 = 1;
end $$;
--> statement-breakpoint
create function public.consignments_directory_split_all(wanted text, from_at timestamptz, from_id uuid)
returns void language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  whole integer;
  below integer;
  cut_at timestamptz;
  cut_id uuid;
begin
  loop
    select n into whole from public.consignments_directory
    where filter = 'all' and value = wanted and low_at = from_at and low_id = from_id;
    exit when whole <= 1000;
    select cut.at, cut.id, 500 - coalesce((select sum(sign) from public.consignments_directory_changes change
        where xid >= (select folded_to from public.consignments_directory_state) and true
          and (change.at, change.id) >= (from_at, from_id) and (change.at, change.id) < (cut.at, cut.id)), 0)
    into cut_at, cut_id, below
    from (
      select item.created_at, item.id from public.consignments item where true and (item.created_at, item.id) >= (from_at, from_id)
      order by item.created_at, item.id offset 500 limit 1) cut (at, id);
    -- Rows that were counted may be gone by now: then the next fold will see to it.
    exit when not found or exists (
      select from public.consignments_directory where filter = 'all' and value = wanted
        and (low_at, low_id) > (from_at, from_id) and (low_at, low_id) <= (cut_at, cut_id));
    update public.consignments_directory set n = below
    where filter = 'all' and value = wanted and low_at = from_at and low_id = from_id;
    insert into public.consignments_directory values ('all', wanted, cut_at, cut_id, whole - below);
    from_at := cut_at;
    from_id := cut_id;
  end loop;
end $$;
--> statement-breakpoint
create function public.consignments_directory_split_by_client_id(wanted text, from_at timestamptz, from_id uuid)
returns void language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  whole integer;
  below integer;
  cut_at timestamptz;
  cut_id uuid;
begin
  loop
    select n into whole from public.consignments_directory
    where filter = 'by_client_id' and value = wanted and low_at = from_at and low_id = from_id;
    exit when whole <= 1000;
    select cut.at, cut.id, 500 - coalesce((select sum(sign) from public.consignments_directory_changes change
        where xid >= (select folded_to from public.consignments_directory_state) and change.client_id = wanted::uuid
          and (change.at, change.id) >= (from_at, from_id) and (change.at, change.id) < (cut.at, cut.id)), 0)
    into cut_at, cut_id, below
    from (
      select item.created_at, item.id from public.consignments item where item.client_id = wanted::uuid and (item.created_at, item.id) >= (from_at, from_id)
      order by item.created_at, item.id offset 500 limit 1) cut (at, id);
    -- Rows that were counted may be gone by now: then the next fold will see to it.
    exit when not found or exists (
      select from public.consignments_directory where filter = 'by_client_id' and value = wanted
        and (low_at, low_id) > (from_at, from_id) and (low_at, low_id) <= (cut_at, cut_id));
    update public.consignments_directory set n = below
    where filter = 'by_client_id' and value = wanted and low_at = from_at and low_id = from_id;
    insert into public.consignments_directory values ('by_client_id', wanted, cut_at, cut_id, whole - below);
    from_at := cut_at;
    from_id := cut_id;
  end loop;
end $$;
--> statement-breakpoint
create function public.consignments_directory_split_by_warehouse_id(wanted text, from_at timestamptz, from_id uuid)
returns void language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  whole integer;
  below integer;
  cut_at timestamptz;
  cut_id uuid;
begin
  loop
    select n into whole from public.consignments_directory
    where filter = 'by_warehouse_id' and value = wanted and low_at = from_at and low_id = from_id;
    exit when whole <= 1000;
    select cut.at, cut.id, 500 - coalesce((select sum(sign) from public.consignments_directory_changes change
        where xid >= (select folded_to from public.consignments_directory_state) and change.warehouse_id = wanted::uuid
          and (change.at, change.id) >= (from_at, from_id) and (change.at, change.id) < (cut.at, cut.id)), 0)
    into cut_at, cut_id, below
    from (
      select item.created_at, item.id from public.consignments item where item.warehouse_id = wanted::uuid and (item.created_at, item.id) >= (from_at, from_id)
      order by item.created_at, item.id offset 500 limit 1) cut (at, id);
    -- Rows that were counted may be gone by now: then the next fold will see to it.
    exit when not found or exists (
      select from public.consignments_directory where filter = 'by_warehouse_id' and value = wanted
        and (low_at, low_id) > (from_at, from_id) and (low_at, low_id) <= (cut_at, cut_id));
    update public.consignments_directory set n = below
    where filter = 'by_warehouse_id' and value = wanted and low_at = from_at and low_id = from_id;
    insert into public.consignments_directory values ('by_warehouse_id', wanted, cut_at, cut_id, whole - below);
    from_at := cut_at;
    from_id := cut_id;
  end loop;
end $$;
--> statement-breakpoint
create function public.consignments_directory_split_by_carrier_id(wanted text, from_at timestamptz, from_id uuid)
returns void language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  whole integer;
  below integer;
  cut_at timestamptz;
  cut_id uuid;
begin
  loop
    select n into whole from public.consignments_directory
    where filter = 'by_carrier_id' and value = wanted and low_at = from_at and low_id = from_id;
    exit when whole <= 1000;
    select cut.at, cut.id, 500 - coalesce((select sum(sign) from public.consignments_directory_changes change
        where xid >= (select folded_to from public.consignments_directory_state) and change.carrier_id = wanted::uuid
          and (change.at, change.id) >= (from_at, from_id) and (change.at, change.id) < (cut.at, cut.id)), 0)
    into cut_at, cut_id, below
    from (
      select item.created_at, item.id from public.consignments item where item.carrier_id = wanted::uuid and (item.created_at, item.id) >= (from_at, from_id)
      order by item.created_at, item.id offset 500 limit 1) cut (at, id);
    -- Rows that were counted may be gone by now: then the next fold will see to it.
    exit when not found or exists (
      select from public.consignments_directory where filter = 'by_carrier_id' and value = wanted
        and (low_at, low_id) > (from_at, from_id) and (low_at, low_id) <= (cut_at, cut_id));
    update public.consignments_directory set n = below
    where filter = 'by_carrier_id' and value = wanted and low_at = from_at and low_id = from_id;
    insert into public.consignments_directory values ('by_carrier_id', wanted, cut_at, cut_id, whole - below);
    from_at := cut_at;
    from_id := cut_id;
  end loop;
end $$;
--> statement-breakpoint
create function public.consignments_directory_split_by_status(wanted text, from_at timestamptz, from_id uuid)
returns void language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  whole integer;
  below integer;
  cut_at timestamptz;
  cut_id uuid;
begin
  loop
    select n into whole from public.consignments_directory
    where filter = 'by_status' and value = wanted and low_at = from_at and low_id = from_id;
    exit when whole <= 1000;
    select cut.at, cut.id, 500 - coalesce((select sum(sign) from public.consignments_directory_changes change
        where xid >= (select folded_to from public.consignments_directory_state) and change.status = wanted::integer
          and (change.at, change.id) >= (from_at, from_id) and (change.at, change.id) < (cut.at, cut.id)), 0)
    into cut_at, cut_id, below
    from (
      select item.created_at, item.id from public.consignments item where item.status = wanted::integer and (item.created_at, item.id) >= (from_at, from_id)
      order by item.created_at, item.id offset 500 limit 1) cut (at, id);
    -- Rows that were counted may be gone by now: then the next fold will see to it.
    exit when not found or exists (
      select from public.consignments_directory where filter = 'by_status' and value = wanted
        and (low_at, low_id) > (from_at, from_id) and (low_at, low_id) <= (cut_at, cut_id));
    update public.consignments_directory set n = below
    where filter = 'by_status' and value = wanted and low_at = from_at and low_id = from_id;
    insert into public.consignments_directory values ('by_status', wanted, cut_at, cut_id, whole - below);
    from_at := cut_at;
    from_id := cut_id;
  end loop;
end $$;
--> statement-breakpoint
create function public.consignments_directory_split_by_edi_status(wanted text, from_at timestamptz, from_id uuid)
returns void language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  whole integer;
  below integer;
  cut_at timestamptz;
  cut_id uuid;
begin
  loop
    select n into whole from public.consignments_directory
    where filter = 'by_edi_status' and value = wanted and low_at = from_at and low_id = from_id;
    exit when whole <= 1000;
    select cut.at, cut.id, 500 - coalesce((select sum(sign) from public.consignments_directory_changes change
        where xid >= (select folded_to from public.consignments_directory_state) and change.edi_status = wanted::integer
          and (change.at, change.id) >= (from_at, from_id) and (change.at, change.id) < (cut.at, cut.id)), 0)
    into cut_at, cut_id, below
    from (
      select item.created_at, item.id from public.consignments item where item.edi_status = wanted::integer and (item.created_at, item.id) >= (from_at, from_id)
      order by item.created_at, item.id offset 500 limit 1) cut (at, id);
    -- Rows that were counted may be gone by now: then the next fold will see to it.
    exit when not found or exists (
      select from public.consignments_directory where filter = 'by_edi_status' and value = wanted
        and (low_at, low_id) > (from_at, from_id) and (low_at, low_id) <= (cut_at, cut_id));
    update public.consignments_directory set n = below
    where filter = 'by_edi_status' and value = wanted and low_at = from_at and low_id = from_id;
    insert into public.consignments_directory values ('by_edi_status', wanted, cut_at, cut_id, whole - below);
    from_at := cut_at;
    from_id := cut_id;
  end loop;
end $$;
--> statement-breakpoint
create function public.consignments_directory_split(overfull public.consignments_directory[]) returns void language plpgsql as $$
declare
  bucket public.consignments_directory;
begin
  foreach bucket in array overfull loop
    execute format('select public.%I($1, $2, $3)', 'consignments_directory_split_' || bucket.filter)
    using bucket.value, bucket.low_at, bucket.low_id;
  end loop;
  perform public.consignments_directory_shelve(filter, value)
  from (select distinct filter, value from unnest(overfull)) changed;
end $$;
--> statement-breakpoint
create function public.consignments_directory_fold(most integer default 5000) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  folded integer;
  overfull public.consignments_directory[];
begin
  -- Nothing to do is the usual case: it must not cost a transaction id and a write.
  if not exists (select from public.consignments_directory_changes where xid >= (select folded_to from public.consignments_directory_state)) then return 0; end if;
  -- TRUNCATE has the list before it asks for the rest; in another order the two could wait for each other.
  lock table public.consignments in access share mode;
  perform from public.consignments_directory_state for update skip locked;
  if not found then return 0; end if;
  -- One statement, one snapshot: what is taken from the changes is what is added to the counts.
  with lowest (at, id) as (
    select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid
  ), gone as (
    delete from public.consignments_directory_changes where ctid = any (array(select ctid from public.consignments_directory_changes where xid >= (select folded_to from public.consignments_directory_state) order by xid limit most))
    returning *
  ), newest_all as materialized (
    -- Most changes are near the end of the list: its last bucket that matters is looked up once a value.
    select newest.value, coalesce(low_at, lowest.at) as low_at, coalesce(low_id, lowest.id) as low_id
    from (select ''::text as value, max(at) as at from gone group by 1) newest cross join lowest
    left join lateral (
      select low_at, low_id from public.consignments_directory held
      where held.filter = 'all' and held.value = '' and low_at <= newest.at
      order by low_at desc, low_id desc limit 1) bucket on true
    where newest.value is not null
  ), bucketed_all as (
    select 'all' as filter, '' as value, coalesce(bucket.low_at, newest.low_at) as low_at,
      coalesce(bucket.low_id, newest.low_id) as low_id, sum(sign) as n, bit_xor(mark) as mark
    from gone join newest_all newest on newest.value = ''::text
    left join lateral (
      select low_at, low_id from public.consignments_directory held
      where held.filter = 'all' and held.value = '' and (gone.at, gone.id) < (newest.low_at, newest.low_id) and (low_at, low_id) <= (gone.at, gone.id)
      order by low_at desc, low_id desc limit 1) bucket on true
    group by newest.value, 3, 4
  ), newest_by_client_id as materialized (
    -- Most changes are near the end of the list: its last bucket that matters is looked up once a value.
    select newest.value, coalesce(low_at, lowest.at) as low_at, coalesce(low_id, lowest.id) as low_id
    from (select gone.client_id as value, max(at) as at from gone group by 1) newest cross join lowest
    left join lateral (
      select low_at, low_id from public.consignments_directory held
      where held.filter = 'by_client_id' and held.value = newest.value::text and low_at <= newest.at
      order by low_at desc, low_id desc limit 1) bucket on true
    where newest.value is not null
  ), bucketed_by_client_id as (
    select 'by_client_id' as filter, newest.value::text as value, coalesce(bucket.low_at, newest.low_at) as low_at,
      coalesce(bucket.low_id, newest.low_id) as low_id, sum(sign) as n, bit_xor(mark) as mark
    from gone join newest_by_client_id newest on newest.value = gone.client_id
    left join lateral (
      select low_at, low_id from public.consignments_directory held
      where held.filter = 'by_client_id' and held.value = newest.value::text and (gone.at, gone.id) < (newest.low_at, newest.low_id) and (low_at, low_id) <= (gone.at, gone.id)
      order by low_at desc, low_id desc limit 1) bucket on true
    group by newest.value, 3, 4
  ), newest_by_warehouse_id as materialized (
    -- Most changes are near the end of the list: its last bucket that matters is looked up once a value.
    select newest.value, coalesce(low_at, lowest.at) as low_at, coalesce(low_id, lowest.id) as low_id
    from (select gone.warehouse_id as value, max(at) as at from gone group by 1) newest cross join lowest
    left join lateral (
      select low_at, low_id from public.consignments_directory held
      where held.filter = 'by_warehouse_id' and held.value = newest.value::text and low_at <= newest.at
      order by low_at desc, low_id desc limit 1) bucket on true
    where newest.value is not null
  ), bucketed_by_warehouse_id as (
    select 'by_warehouse_id' as filter, newest.value::text as value, coalesce(bucket.low_at, newest.low_at) as low_at,
      coalesce(bucket.low_id, newest.low_id) as low_id, sum(sign) as n, bit_xor(mark) as mark
    from gone join newest_by_warehouse_id newest on newest.value = gone.warehouse_id
    left join lateral (
      select low_at, low_id from public.consignments_directory held
      where held.filter = 'by_warehouse_id' and held.value = newest.value::text and (gone.at, gone.id) < (newest.low_at, newest.low_id) and (low_at, low_id) <= (gone.at, gone.id)
      order by low_at desc, low_id desc limit 1) bucket on true
    group by newest.value, 3, 4
  ), newest_by_carrier_id as materialized (
    -- Most changes are near the end of the list: its last bucket that matters is looked up once a value.
    select newest.value, coalesce(low_at, lowest.at) as low_at, coalesce(low_id, lowest.id) as low_id
    from (select gone.carrier_id as value, max(at) as at from gone group by 1) newest cross join lowest
    left join lateral (
      select low_at, low_id from public.consignments_directory held
      where held.filter = 'by_carrier_id' and held.value = newest.value::text and low_at <= newest.at
      order by low_at desc, low_id desc limit 1) bucket on true
    where newest.value is not null
  ), bucketed_by_carrier_id as (
    select 'by_carrier_id' as filter, newest.value::text as value, coalesce(bucket.low_at, newest.low_at) as low_at,
      coalesce(bucket.low_id, newest.low_id) as low_id, sum(sign) as n, bit_xor(mark) as mark
    from gone join newest_by_carrier_id newest on newest.value = gone.carrier_id
    left join lateral (
      select low_at, low_id from public.consignments_directory held
      where held.filter = 'by_carrier_id' and held.value = newest.value::text and (gone.at, gone.id) < (newest.low_at, newest.low_id) and (low_at, low_id) <= (gone.at, gone.id)
      order by low_at desc, low_id desc limit 1) bucket on true
    group by newest.value, 3, 4
  ), newest_by_status as materialized (
    -- Most changes are near the end of the list: its last bucket that matters is looked up once a value.
    select newest.value, coalesce(low_at, lowest.at) as low_at, coalesce(low_id, lowest.id) as low_id
    from (select gone.status as value, max(at) as at from gone group by 1) newest cross join lowest
    left join lateral (
      select low_at, low_id from public.consignments_directory held
      where held.filter = 'by_status' and held.value = newest.value::text and low_at <= newest.at
      order by low_at desc, low_id desc limit 1) bucket on true
    where newest.value is not null
  ), bucketed_by_status as (
    select 'by_status' as filter, newest.value::text as value, coalesce(bucket.low_at, newest.low_at) as low_at,
      coalesce(bucket.low_id, newest.low_id) as low_id, sum(sign) as n, bit_xor(mark) as mark
    from gone join newest_by_status newest on newest.value = gone.status
    left join lateral (
      select low_at, low_id from public.consignments_directory held
      where held.filter = 'by_status' and held.value = newest.value::text and (gone.at, gone.id) < (newest.low_at, newest.low_id) and (low_at, low_id) <= (gone.at, gone.id)
      order by low_at desc, low_id desc limit 1) bucket on true
    group by newest.value, 3, 4
  ), newest_by_edi_status as materialized (
    -- Most changes are near the end of the list: its last bucket that matters is looked up once a value.
    select newest.value, coalesce(low_at, lowest.at) as low_at, coalesce(low_id, lowest.id) as low_id
    from (select gone.edi_status as value, max(at) as at from gone group by 1) newest cross join lowest
    left join lateral (
      select low_at, low_id from public.consignments_directory held
      where held.filter = 'by_edi_status' and held.value = newest.value::text and low_at <= newest.at
      order by low_at desc, low_id desc limit 1) bucket on true
    where newest.value is not null
  ), bucketed_by_edi_status as (
    select 'by_edi_status' as filter, newest.value::text as value, coalesce(bucket.low_at, newest.low_at) as low_at,
      coalesce(bucket.low_id, newest.low_id) as low_id, sum(sign) as n, bit_xor(mark) as mark
    from gone join newest_by_edi_status newest on newest.value = gone.edi_status
    left join lateral (
      select low_at, low_id from public.consignments_directory held
      where held.filter = 'by_edi_status' and held.value = newest.value::text and (gone.at, gone.id) < (newest.low_at, newest.low_id) and (low_at, low_id) <= (gone.at, gone.id)
      order by low_at desc, low_id desc limit 1) bucket on true
    group by newest.value, 3, 4
  ), bucketed as materialized (
    select * from bucketed_all union all select * from bucketed_by_client_id union all select * from bucketed_by_warehouse_id union all select * from bucketed_by_carrier_id union all select * from bucketed_by_status union all select * from bucketed_by_edi_status
  ), shelved as (
    select bucketed.filter, bucketed.value, coalesce(shelf.low_at, lowest.at) as low_at,
      coalesce(shelf.low_id, lowest.id) as low_id, sum(n) as n, bit_xor(mark) as mark
    from bucketed cross join lowest
    left join lateral (
      select low_at, low_id from public.consignments_directory_shelves held
      where held.filter = bucketed.filter and held.value = bucketed.value and (low_at, low_id) <= (bucketed.low_at, bucketed.low_id)
      order by low_at desc, low_id desc limit 1) shelf on true
    group by 1, 2, 3, 4
  ), counted_buckets as (
    insert into public.consignments_directory as held select filter, value, low_at, low_id, n from bucketed
    on conflict (filter, value, low_at, low_id) do update set n = held.n + excluded.n
    returning held
  ), counted_shelves as (
    insert into public.consignments_directory_shelves as held select filter, value, low_at, low_id, n, mark from shelved
    on conflict (filter, value, low_at, low_id)
    do update set n = held.n + excluded.n, mark = held.mark # excluded.mark
  ), settled as (
    -- What this snapshot can't see yet has a transaction id from its xmin on.
    update public.consignments_directory_state set folded_to = least(pg_snapshot_xmin(pg_current_snapshot()),
      (select max(xid) from gone having count(*) = most))
  )
  select (select count(*) from gone), array(select held from counted_buckets where (held).n > 1000)
  into folded, overfull;
  -- While it lags behind, every split would read the whole backlog; later is soon enough.
  if folded < most then perform public.consignments_directory_split(overfull); end if;
  return folded;
end $$;
--> statement-breakpoint
create function public.consignments_directory_thin() returns void language plpgsql as $$
declare
  sparse record;
begin
  perform from public.consignments_directory_state for update skip locked;
  if not found then return; end if;
  -- Written, not only locked: a REPEATABLE READ session that still sees the old buckets must fail, not fold.
  update public.consignments_directory_state set folded_to = folded_to;
  -- Folding may have left some behind while it lagged.
  perform public.consignments_directory_split(array(select held from public.consignments_directory held where n > 1000));
  for sparse in
    select filter, value from public.consignments_directory group by filter, value
    having count(*) > 2 + 2 * sum(greatest(n, 0)) / 500
  loop
    -- The running total cut into pieces of one bucket each: a piece is a run of neighbours.
    with run as (
      select low_at, low_id, n, (sum(greatest(n, 0)) over (order by low_at, low_id)
        - greatest(n, 0)) / 500 as piece
      from public.consignments_directory where filter = sparse.filter and value = sparse.value
    ), joined as (
      select low_at, low_id, sum(n) over (partition by piece) as n,
        row_number() over (partition by piece order by low_at, low_id) = 1 as stays
      from run
    ), gone as (
      delete from public.consignments_directory held using joined
      where not stays and held.filter = sparse.filter and held.value = sparse.value
        and held.low_at = joined.low_at and held.low_id = joined.low_id
    )
    update public.consignments_directory held set n = joined.n from joined
    where stays and held.filter = sparse.filter and held.value = sparse.value
      and held.low_at = joined.low_at and held.low_id = joined.low_id;
    perform public.consignments_directory_shelve(sparse.filter, sparse.value);
  end loop;
  with gone as (
    delete from public.consignments_directory held where n = 0 and not exists (
      select from public.consignments_directory other where other.filter = held.filter and other.value = held.value
        and (other.low_at, other.low_id) <> (held.low_at, held.low_id))
    returning filter, value)
  delete from public.consignments_directory_shelves using gone
  where public.consignments_directory_shelves.filter = gone.filter and public.consignments_directory_shelves.value = gone.value;
end $$;
--> statement-breakpoint
create function public.consignments_directory_rebuild() returns void language plpgsql as $$
begin
  lock table public.consignments in access share mode;
  perform from public.consignments_directory_state for update;
  delete from public.consignments_directory;
  delete from public.consignments_directory_shelves;
  -- One statement, one snapshot: the changes it takes away are those whose rows it counts.
  with gone as (
    delete from public.consignments_directory_changes
  ), settled as (
    update public.consignments_directory_state set folded_to = pg_snapshot_xmin(pg_current_snapshot())
  ), counted as (
    select 'all' as filter, '' as value, count(*) as n from public.consignments item
      where ''::text is not null group by ''::text
    union all
    select 'by_client_id' as filter, item.client_id::text as value, count(*) as n from public.consignments item
      where item.client_id is not null group by item.client_id
    union all
    select 'by_warehouse_id' as filter, item.warehouse_id::text as value, count(*) as n from public.consignments item
      where item.warehouse_id is not null group by item.warehouse_id
    union all
    select 'by_carrier_id' as filter, item.carrier_id::text as value, count(*) as n from public.consignments item
      where item.carrier_id is not null group by item.carrier_id
    union all
    select 'by_status' as filter, item.status::text as value, count(*) as n from public.consignments item
      where item.status is not null group by item.status
    union all
    select 'by_edi_status' as filter, item.edi_status::text as value, count(*) as n from public.consignments item
      where item.edi_status is not null group by item.edi_status
  ), shelved as (
    insert into public.consignments_directory_shelves
    select filter, value, '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid, n, random(-9223372036854775808, 9223372036854775807) from counted
  )
  insert into public.consignments_directory select filter, value, '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid, n from counted;
  perform public.consignments_directory_split(array(
    select bucket from public.consignments_directory bucket where n > 1000));
end $$;
--> statement-breakpoint
create function public.consignments_directory_drift() returns bigint language plpgsql stable
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return (select coalesce(sum(off), 0) from (
  select abs(n - coalesce((select sum(bucket.n) from public.consignments_directory bucket
      where bucket.filter = shelf.filter and bucket.value = shelf.value
        and (bucket.low_at, bucket.low_id) >= (shelf.low_at, shelf.low_id)
        and (bucket.low_at, bucket.low_id) < (shelf.high_at, shelf.high_id)), 0)) as off
  from (
    select filter, value, n, low_at, low_id, coalesce(lead(low_at) over after, top_at) as high_at,
      coalesce(lead(low_id) over after, top_id) as high_id
    from (select * from public.consignments_directory_shelves) low cross join (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) top (top_at, top_id)
    window after as (partition by filter, value order by low_at, low_id)) shelf
  union all
  select abs(n
      + (select coalesce(sum(sign), 0) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state)
        and true and (at, id) >= (low_at, low_id) and (at, id) < (high_at, high_id))
      - (select count(*) from public.consignments item
        where true and (item.created_at, item.id) >= (low_at, low_id) and (item.created_at, item.id) < (high_at, high_id))) as off
  from (
    select filter, value, n, low_at, low_id, coalesce(lead(low_at) over after, top_at) as high_at,
      coalesce(lead(low_id) over after, top_id) as high_id
    from (select * from public.consignments_directory where filter = 'all') low cross join (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) top (top_at, top_id)
    window after as (partition by filter, value order by low_at, low_id)) bucket
  union all
  select abs(sum(n)) from (
    select '' as value, sign as n from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and '' not in (select value from public.consignments_directory where filter = 'all')
    union all
    select '', -1 from public.consignments item where '' not in (select value from public.consignments_directory where filter = 'all')) rest
  where value is not null group by value
  union all
  select abs(n
      + (select coalesce(sum(sign), 0) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state)
        and change.client_id = bucket.value::uuid and (at, id) >= (low_at, low_id) and (at, id) < (high_at, high_id))
      - (select count(*) from public.consignments item
        where item.client_id = bucket.value::uuid and (item.created_at, item.id) >= (low_at, low_id) and (item.created_at, item.id) < (high_at, high_id))) as off
  from (
    select filter, value, n, low_at, low_id, coalesce(lead(low_at) over after, top_at) as high_at,
      coalesce(lead(low_id) over after, top_id) as high_id
    from (select * from public.consignments_directory where filter = 'by_client_id') low cross join (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) top (top_at, top_id)
    window after as (partition by filter, value order by low_at, low_id)) bucket
  union all
  select abs(sum(n)) from (
    select change.client_id::text as value, sign as n from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.client_id::text not in (select value from public.consignments_directory where filter = 'by_client_id')
    union all
    select item.client_id::text, -1 from public.consignments item where item.client_id::text not in (select value from public.consignments_directory where filter = 'by_client_id')) rest
  where value is not null group by value
  union all
  select abs(n
      + (select coalesce(sum(sign), 0) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state)
        and change.warehouse_id = bucket.value::uuid and (at, id) >= (low_at, low_id) and (at, id) < (high_at, high_id))
      - (select count(*) from public.consignments item
        where item.warehouse_id = bucket.value::uuid and (item.created_at, item.id) >= (low_at, low_id) and (item.created_at, item.id) < (high_at, high_id))) as off
  from (
    select filter, value, n, low_at, low_id, coalesce(lead(low_at) over after, top_at) as high_at,
      coalesce(lead(low_id) over after, top_id) as high_id
    from (select * from public.consignments_directory where filter = 'by_warehouse_id') low cross join (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) top (top_at, top_id)
    window after as (partition by filter, value order by low_at, low_id)) bucket
  union all
  select abs(sum(n)) from (
    select change.warehouse_id::text as value, sign as n from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.warehouse_id::text not in (select value from public.consignments_directory where filter = 'by_warehouse_id')
    union all
    select item.warehouse_id::text, -1 from public.consignments item where item.warehouse_id::text not in (select value from public.consignments_directory where filter = 'by_warehouse_id')) rest
  where value is not null group by value
  union all
  select abs(n
      + (select coalesce(sum(sign), 0) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state)
        and change.carrier_id = bucket.value::uuid and (at, id) >= (low_at, low_id) and (at, id) < (high_at, high_id))
      - (select count(*) from public.consignments item
        where item.carrier_id = bucket.value::uuid and (item.created_at, item.id) >= (low_at, low_id) and (item.created_at, item.id) < (high_at, high_id))) as off
  from (
    select filter, value, n, low_at, low_id, coalesce(lead(low_at) over after, top_at) as high_at,
      coalesce(lead(low_id) over after, top_id) as high_id
    from (select * from public.consignments_directory where filter = 'by_carrier_id') low cross join (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) top (top_at, top_id)
    window after as (partition by filter, value order by low_at, low_id)) bucket
  union all
  select abs(sum(n)) from (
    select change.carrier_id::text as value, sign as n from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.carrier_id::text not in (select value from public.consignments_directory where filter = 'by_carrier_id')
    union all
    select item.carrier_id::text, -1 from public.consignments item where item.carrier_id::text not in (select value from public.consignments_directory where filter = 'by_carrier_id')) rest
  where value is not null group by value
  union all
  select abs(n
      + (select coalesce(sum(sign), 0) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state)
        and change.status = bucket.value::integer and (at, id) >= (low_at, low_id) and (at, id) < (high_at, high_id))
      - (select count(*) from public.consignments item
        where item.status = bucket.value::integer and (item.created_at, item.id) >= (low_at, low_id) and (item.created_at, item.id) < (high_at, high_id))) as off
  from (
    select filter, value, n, low_at, low_id, coalesce(lead(low_at) over after, top_at) as high_at,
      coalesce(lead(low_id) over after, top_id) as high_id
    from (select * from public.consignments_directory where filter = 'by_status') low cross join (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) top (top_at, top_id)
    window after as (partition by filter, value order by low_at, low_id)) bucket
  union all
  select abs(sum(n)) from (
    select change.status::text as value, sign as n from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.status::text not in (select value from public.consignments_directory where filter = 'by_status')
    union all
    select item.status::text, -1 from public.consignments item where item.status::text not in (select value from public.consignments_directory where filter = 'by_status')) rest
  where value is not null group by value
  union all
  select abs(n
      + (select coalesce(sum(sign), 0) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state)
        and change.edi_status = bucket.value::integer and (at, id) >= (low_at, low_id) and (at, id) < (high_at, high_id))
      - (select count(*) from public.consignments item
        where item.edi_status = bucket.value::integer and (item.created_at, item.id) >= (low_at, low_id) and (item.created_at, item.id) < (high_at, high_id))) as off
  from (
    select filter, value, n, low_at, low_id, coalesce(lead(low_at) over after, top_at) as high_at,
      coalesce(lead(low_id) over after, top_id) as high_id
    from (select * from public.consignments_directory where filter = 'by_edi_status') low cross join (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) top (top_at, top_id)
    window after as (partition by filter, value order by low_at, low_id)) bucket
  union all
  select abs(sum(n)) from (
    select change.edi_status::text as value, sign as n from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.edi_status::text not in (select value from public.consignments_directory where filter = 'by_edi_status')
    union all
    select item.edi_status::text, -1 from public.consignments item where item.edi_status::text not in (select value from public.consignments_directory where filter = 'by_edi_status')) rest
  where value is not null group by value) parts);
end $$;
--> statement-breakpoint
create function public.consignments_directory_page_all(wanted text, since timestamptz, skip bigint, take integer,
  totalled boolean, out given public.consignments, out total bigint)
returns setof record language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  older bigint := 0;
  place bigint;
  shelf record;
  bucket record;
  near_at timestamptz;
  near_id uuid;
  rank bigint;
begin
  if totalled or true then
    total := coalesce((select sum(n) from public.consignments_directory_shelves where filter = 'all' and value = ''), 0) + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and true), 0);
  end if;
  if since is not null then
    select low_at, low_id into shelf from public.consignments_directory_shelves where filter = 'all' and value = '' and low_at < since
    order by low_at desc, low_id desc limit 1;
    select low_at, low_id into near_at, near_id from public.consignments_directory where filter = 'all' and value = '' and low_at < since
    order by low_at desc, low_id desc limit 1;
    if not found then
      select * into near_at, near_id from (select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid) lowest;
    end if;
    older := coalesce((select sum(n) from public.consignments_directory_shelves
        where filter = 'all' and value = '' and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
      + coalesce((select sum(n) from public.consignments_directory
        where filter = 'all' and value = '' and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near_at, near_id)), 0)
      + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and true and (change.at, change.id) < (near_at, near_id)), 0)
      + (select count(*) from public.consignments item where true and (item.created_at, item.id) >= (near_at, near_id) and item.created_at < since);
  end if;
  place := total - 1 - skip;
  total := total - older;
  select low_at, low_id, past - n as below into shelf from (
    select low_at, low_id, n, sum(n) over (order by low_at, low_id rows unbounded preceding) as past
    from public.consignments_directory_shelves where filter = 'all' and value = '') run
  where past > place order by low_at, low_id limit 1;
  if found then
    select * into bucket from (
      select low_at, low_id, coalesce(lead(low_at) over key, top_at) as high_at,
        coalesce(lead(low_id) over key, top_id) as high_id, n, shelf.below + sum(n) over key as past
      from public.consignments_directory cross join (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) top (top_at, top_id)
      where filter = 'all' and value = '' and (low_at, low_id) >= (shelf.low_at, shelf.low_id)
      window key as (order by low_at, low_id rows unbounded preceding)) run
    where past > place order by low_at, low_id limit 1;
    if bucket.past - place > bucket.n / 2 then
      near_at := bucket.low_at; near_id := bucket.low_id; rank := bucket.past - bucket.n;
    else
      near_at := bucket.high_at; near_id := bucket.high_id; rank := bucket.past;
    end if;
  else
    -- Past all that has been counted: from the end.
    select * into near_at, near_id from (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) highest;
    rank := coalesce((select sum(n) from public.consignments_directory_shelves where filter = 'all' and value = ''), 0);
  end if;
  rank := rank + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and true and (change.at, change.id) < (near_at, near_id)), 0);
  -- A boundary key need not be one of a row: only upwards can the list be read from it as it is.
  if rank <= place then
    select item.created_at, item.id into near_at, near_id from public.consignments item where true and (item.created_at, item.id) >= (near_at, near_id)
    order by item.created_at, item.id offset place - rank limit 1;
  elsif rank > place then
    select item.created_at, item.id into near_at, near_id from public.consignments item where true and (item.created_at, item.id) < (near_at, near_id)
    order by item.created_at desc, item.id desc offset rank - place - 1 limit 1;
  end if;
  return query select item, total from public.consignments item where true
  and (item.created_at, item.id) <= (near_at, near_id) order by item.created_at desc, item.id desc limit greatest(least(take, place - older + 1), 0);
  -- The total is told in any case.
  if not found then return next; end if;
end $$;
--> statement-breakpoint
create function public.consignments_directory_page_all(wanted text, since timestamptz, skip bigint, take integer,
  out ids uuid[], out total bigint)
language sql stable as $$
  select coalesce(array_agg((given).id order by place) filter (where (given).id is not null), '{}'),
    max(page.total)
  from public.consignments_directory_page_all(wanted, since, skip, take, true) with ordinality page (given, total, place)
$$;
--> statement-breakpoint
create function public.consignments_directory_page_by_client_id(wanted uuid, since timestamptz, skip bigint, take integer,
  totalled boolean, out given public.consignments, out total bigint)
returns setof record language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  older bigint := 0;
  place bigint;
  shelf record;
  bucket record;
  near_at timestamptz;
  near_id uuid;
  rank bigint;
begin
  if totalled or true then
    total := coalesce((select sum(n) from public.consignments_directory_shelves where filter = 'by_client_id' and value = wanted::text), 0) + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.client_id = wanted), 0);
  end if;
  if since is not null then
    select low_at, low_id into shelf from public.consignments_directory_shelves where filter = 'by_client_id' and value = wanted::text and low_at < since
    order by low_at desc, low_id desc limit 1;
    select low_at, low_id into near_at, near_id from public.consignments_directory where filter = 'by_client_id' and value = wanted::text and low_at < since
    order by low_at desc, low_id desc limit 1;
    if not found then
      select * into near_at, near_id from (select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid) lowest;
    end if;
    older := coalesce((select sum(n) from public.consignments_directory_shelves
        where filter = 'by_client_id' and value = wanted::text and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
      + coalesce((select sum(n) from public.consignments_directory
        where filter = 'by_client_id' and value = wanted::text and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near_at, near_id)), 0)
      + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.client_id = wanted and (change.at, change.id) < (near_at, near_id)), 0)
      + (select count(*) from public.consignments item where item.client_id = wanted and (item.created_at, item.id) >= (near_at, near_id) and item.created_at < since);
  end if;
  place := total - 1 - skip;
  total := total - older;
  select low_at, low_id, past - n as below into shelf from (
    select low_at, low_id, n, sum(n) over (order by low_at, low_id rows unbounded preceding) as past
    from public.consignments_directory_shelves where filter = 'by_client_id' and value = wanted::text) run
  where past > place order by low_at, low_id limit 1;
  if found then
    select * into bucket from (
      select low_at, low_id, coalesce(lead(low_at) over key, top_at) as high_at,
        coalesce(lead(low_id) over key, top_id) as high_id, n, shelf.below + sum(n) over key as past
      from public.consignments_directory cross join (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) top (top_at, top_id)
      where filter = 'by_client_id' and value = wanted::text and (low_at, low_id) >= (shelf.low_at, shelf.low_id)
      window key as (order by low_at, low_id rows unbounded preceding)) run
    where past > place order by low_at, low_id limit 1;
    if bucket.past - place > bucket.n / 2 then
      near_at := bucket.low_at; near_id := bucket.low_id; rank := bucket.past - bucket.n;
    else
      near_at := bucket.high_at; near_id := bucket.high_id; rank := bucket.past;
    end if;
  else
    -- Past all that has been counted: from the end.
    select * into near_at, near_id from (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) highest;
    rank := coalesce((select sum(n) from public.consignments_directory_shelves where filter = 'by_client_id' and value = wanted::text), 0);
  end if;
  rank := rank + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.client_id = wanted and (change.at, change.id) < (near_at, near_id)), 0);
  -- A boundary key need not be one of a row: only upwards can the list be read from it as it is.
  if rank <= place then
    select item.created_at, item.id into near_at, near_id from public.consignments item where item.client_id = wanted and (item.created_at, item.id) >= (near_at, near_id)
    order by item.created_at, item.id offset place - rank limit 1;
  elsif rank > place then
    select item.created_at, item.id into near_at, near_id from public.consignments item where item.client_id = wanted and (item.created_at, item.id) < (near_at, near_id)
    order by item.created_at desc, item.id desc offset rank - place - 1 limit 1;
  end if;
  return query select item, total from public.consignments item where item.client_id = wanted
  and (item.created_at, item.id) <= (near_at, near_id) order by item.created_at desc, item.id desc limit greatest(least(take, place - older + 1), 0);
  -- The total is told in any case.
  if not found then return next; end if;
end $$;
--> statement-breakpoint
create function public.consignments_directory_page_by_client_id(wanted uuid, since timestamptz, skip bigint, take integer,
  out ids uuid[], out total bigint)
language sql stable as $$
  select coalesce(array_agg((given).id order by place) filter (where (given).id is not null), '{}'),
    max(page.total)
  from public.consignments_directory_page_by_client_id(wanted, since, skip, take, true) with ordinality page (given, total, place)
$$;
--> statement-breakpoint
create function public.consignments_directory_page_by_warehouse_id(wanted uuid, since timestamptz, skip bigint, take integer,
  totalled boolean, out given public.consignments, out total bigint)
returns setof record language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  older bigint := 0;
  place bigint;
  shelf record;
  bucket record;
  near_at timestamptz;
  near_id uuid;
  rank bigint;
begin
  if totalled or true then
    total := coalesce((select sum(n) from public.consignments_directory_shelves where filter = 'by_warehouse_id' and value = wanted::text), 0) + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.warehouse_id = wanted), 0);
  end if;
  if since is not null then
    select low_at, low_id into shelf from public.consignments_directory_shelves where filter = 'by_warehouse_id' and value = wanted::text and low_at < since
    order by low_at desc, low_id desc limit 1;
    select low_at, low_id into near_at, near_id from public.consignments_directory where filter = 'by_warehouse_id' and value = wanted::text and low_at < since
    order by low_at desc, low_id desc limit 1;
    if not found then
      select * into near_at, near_id from (select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid) lowest;
    end if;
    older := coalesce((select sum(n) from public.consignments_directory_shelves
        where filter = 'by_warehouse_id' and value = wanted::text and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
      + coalesce((select sum(n) from public.consignments_directory
        where filter = 'by_warehouse_id' and value = wanted::text and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near_at, near_id)), 0)
      + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.warehouse_id = wanted and (change.at, change.id) < (near_at, near_id)), 0)
      + (select count(*) from public.consignments item where item.warehouse_id = wanted and (item.created_at, item.id) >= (near_at, near_id) and item.created_at < since);
  end if;
  place := total - 1 - skip;
  total := total - older;
  select low_at, low_id, past - n as below into shelf from (
    select low_at, low_id, n, sum(n) over (order by low_at, low_id rows unbounded preceding) as past
    from public.consignments_directory_shelves where filter = 'by_warehouse_id' and value = wanted::text) run
  where past > place order by low_at, low_id limit 1;
  if found then
    select * into bucket from (
      select low_at, low_id, coalesce(lead(low_at) over key, top_at) as high_at,
        coalesce(lead(low_id) over key, top_id) as high_id, n, shelf.below + sum(n) over key as past
      from public.consignments_directory cross join (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) top (top_at, top_id)
      where filter = 'by_warehouse_id' and value = wanted::text and (low_at, low_id) >= (shelf.low_at, shelf.low_id)
      window key as (order by low_at, low_id rows unbounded preceding)) run
    where past > place order by low_at, low_id limit 1;
    if bucket.past - place > bucket.n / 2 then
      near_at := bucket.low_at; near_id := bucket.low_id; rank := bucket.past - bucket.n;
    else
      near_at := bucket.high_at; near_id := bucket.high_id; rank := bucket.past;
    end if;
  else
    -- Past all that has been counted: from the end.
    select * into near_at, near_id from (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) highest;
    rank := coalesce((select sum(n) from public.consignments_directory_shelves where filter = 'by_warehouse_id' and value = wanted::text), 0);
  end if;
  rank := rank + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.warehouse_id = wanted and (change.at, change.id) < (near_at, near_id)), 0);
  -- A boundary key need not be one of a row: only upwards can the list be read from it as it is.
  if rank <= place then
    select item.created_at, item.id into near_at, near_id from public.consignments item where item.warehouse_id = wanted and (item.created_at, item.id) >= (near_at, near_id)
    order by item.created_at, item.id offset place - rank limit 1;
  elsif rank > place then
    select item.created_at, item.id into near_at, near_id from public.consignments item where item.warehouse_id = wanted and (item.created_at, item.id) < (near_at, near_id)
    order by item.created_at desc, item.id desc offset rank - place - 1 limit 1;
  end if;
  return query select item, total from public.consignments item where item.warehouse_id = wanted
  and (item.created_at, item.id) <= (near_at, near_id) order by item.created_at desc, item.id desc limit greatest(least(take, place - older + 1), 0);
  -- The total is told in any case.
  if not found then return next; end if;
end $$;
--> statement-breakpoint
create function public.consignments_directory_page_by_warehouse_id(wanted uuid, since timestamptz, skip bigint, take integer,
  out ids uuid[], out total bigint)
language sql stable as $$
  select coalesce(array_agg((given).id order by place) filter (where (given).id is not null), '{}'),
    max(page.total)
  from public.consignments_directory_page_by_warehouse_id(wanted, since, skip, take, true) with ordinality page (given, total, place)
$$;
--> statement-breakpoint
create function public.consignments_directory_page_by_carrier_id(wanted uuid, since timestamptz, skip bigint, take integer,
  totalled boolean, out given public.consignments, out total bigint)
returns setof record language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  older bigint := 0;
  place bigint;
  shelf record;
  bucket record;
  near_at timestamptz;
  near_id uuid;
  rank bigint;
begin
  if totalled or true then
    total := coalesce((select sum(n) from public.consignments_directory_shelves where filter = 'by_carrier_id' and value = wanted::text), 0) + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.carrier_id = wanted), 0);
  end if;
  if since is not null then
    select low_at, low_id into shelf from public.consignments_directory_shelves where filter = 'by_carrier_id' and value = wanted::text and low_at < since
    order by low_at desc, low_id desc limit 1;
    select low_at, low_id into near_at, near_id from public.consignments_directory where filter = 'by_carrier_id' and value = wanted::text and low_at < since
    order by low_at desc, low_id desc limit 1;
    if not found then
      select * into near_at, near_id from (select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid) lowest;
    end if;
    older := coalesce((select sum(n) from public.consignments_directory_shelves
        where filter = 'by_carrier_id' and value = wanted::text and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
      + coalesce((select sum(n) from public.consignments_directory
        where filter = 'by_carrier_id' and value = wanted::text and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near_at, near_id)), 0)
      + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.carrier_id = wanted and (change.at, change.id) < (near_at, near_id)), 0)
      + (select count(*) from public.consignments item where item.carrier_id = wanted and (item.created_at, item.id) >= (near_at, near_id) and item.created_at < since);
  end if;
  place := total - 1 - skip;
  total := total - older;
  select low_at, low_id, past - n as below into shelf from (
    select low_at, low_id, n, sum(n) over (order by low_at, low_id rows unbounded preceding) as past
    from public.consignments_directory_shelves where filter = 'by_carrier_id' and value = wanted::text) run
  where past > place order by low_at, low_id limit 1;
  if found then
    select * into bucket from (
      select low_at, low_id, coalesce(lead(low_at) over key, top_at) as high_at,
        coalesce(lead(low_id) over key, top_id) as high_id, n, shelf.below + sum(n) over key as past
      from public.consignments_directory cross join (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) top (top_at, top_id)
      where filter = 'by_carrier_id' and value = wanted::text and (low_at, low_id) >= (shelf.low_at, shelf.low_id)
      window key as (order by low_at, low_id rows unbounded preceding)) run
    where past > place order by low_at, low_id limit 1;
    if bucket.past - place > bucket.n / 2 then
      near_at := bucket.low_at; near_id := bucket.low_id; rank := bucket.past - bucket.n;
    else
      near_at := bucket.high_at; near_id := bucket.high_id; rank := bucket.past;
    end if;
  else
    -- Past all that has been counted: from the end.
    select * into near_at, near_id from (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) highest;
    rank := coalesce((select sum(n) from public.consignments_directory_shelves where filter = 'by_carrier_id' and value = wanted::text), 0);
  end if;
  rank := rank + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.carrier_id = wanted and (change.at, change.id) < (near_at, near_id)), 0);
  -- A boundary key need not be one of a row: only upwards can the list be read from it as it is.
  if rank <= place then
    select item.created_at, item.id into near_at, near_id from public.consignments item where item.carrier_id = wanted and (item.created_at, item.id) >= (near_at, near_id)
    order by item.created_at, item.id offset place - rank limit 1;
  elsif rank > place then
    select item.created_at, item.id into near_at, near_id from public.consignments item where item.carrier_id = wanted and (item.created_at, item.id) < (near_at, near_id)
    order by item.created_at desc, item.id desc offset rank - place - 1 limit 1;
  end if;
  return query select item, total from public.consignments item where item.carrier_id = wanted
  and (item.created_at, item.id) <= (near_at, near_id) order by item.created_at desc, item.id desc limit greatest(least(take, place - older + 1), 0);
  -- The total is told in any case.
  if not found then return next; end if;
end $$;
--> statement-breakpoint
create function public.consignments_directory_page_by_carrier_id(wanted uuid, since timestamptz, skip bigint, take integer,
  out ids uuid[], out total bigint)
language sql stable as $$
  select coalesce(array_agg((given).id order by place) filter (where (given).id is not null), '{}'),
    max(page.total)
  from public.consignments_directory_page_by_carrier_id(wanted, since, skip, take, true) with ordinality page (given, total, place)
$$;
--> statement-breakpoint
create function public.consignments_directory_page_by_status(wanted integer, since timestamptz, skip bigint, take integer,
  totalled boolean, out given public.consignments, out total bigint)
returns setof record language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  older bigint := 0;
  place bigint;
  shelf record;
  bucket record;
  near_at timestamptz;
  near_id uuid;
  rank bigint;
begin
  if totalled or true then
    total := coalesce((select sum(n) from public.consignments_directory_shelves where filter = 'by_status' and value = wanted::text), 0) + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.status = wanted), 0);
  end if;
  if since is not null then
    select low_at, low_id into shelf from public.consignments_directory_shelves where filter = 'by_status' and value = wanted::text and low_at < since
    order by low_at desc, low_id desc limit 1;
    select low_at, low_id into near_at, near_id from public.consignments_directory where filter = 'by_status' and value = wanted::text and low_at < since
    order by low_at desc, low_id desc limit 1;
    if not found then
      select * into near_at, near_id from (select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid) lowest;
    end if;
    older := coalesce((select sum(n) from public.consignments_directory_shelves
        where filter = 'by_status' and value = wanted::text and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
      + coalesce((select sum(n) from public.consignments_directory
        where filter = 'by_status' and value = wanted::text and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near_at, near_id)), 0)
      + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.status = wanted and (change.at, change.id) < (near_at, near_id)), 0)
      + (select count(*) from public.consignments item where item.status = wanted and (item.created_at, item.id) >= (near_at, near_id) and item.created_at < since);
  end if;
  place := total - 1 - skip;
  total := total - older;
  select low_at, low_id, past - n as below into shelf from (
    select low_at, low_id, n, sum(n) over (order by low_at, low_id rows unbounded preceding) as past
    from public.consignments_directory_shelves where filter = 'by_status' and value = wanted::text) run
  where past > place order by low_at, low_id limit 1;
  if found then
    select * into bucket from (
      select low_at, low_id, coalesce(lead(low_at) over key, top_at) as high_at,
        coalesce(lead(low_id) over key, top_id) as high_id, n, shelf.below + sum(n) over key as past
      from public.consignments_directory cross join (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) top (top_at, top_id)
      where filter = 'by_status' and value = wanted::text and (low_at, low_id) >= (shelf.low_at, shelf.low_id)
      window key as (order by low_at, low_id rows unbounded preceding)) run
    where past > place order by low_at, low_id limit 1;
    if bucket.past - place > bucket.n / 2 then
      near_at := bucket.low_at; near_id := bucket.low_id; rank := bucket.past - bucket.n;
    else
      near_at := bucket.high_at; near_id := bucket.high_id; rank := bucket.past;
    end if;
  else
    -- Past all that has been counted: from the end.
    select * into near_at, near_id from (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) highest;
    rank := coalesce((select sum(n) from public.consignments_directory_shelves where filter = 'by_status' and value = wanted::text), 0);
  end if;
  rank := rank + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.status = wanted and (change.at, change.id) < (near_at, near_id)), 0);
  -- A boundary key need not be one of a row: only upwards can the list be read from it as it is.
  if rank <= place then
    select item.created_at, item.id into near_at, near_id from public.consignments item where item.status = wanted and (item.created_at, item.id) >= (near_at, near_id)
    order by item.created_at, item.id offset place - rank limit 1;
  elsif rank > place then
    select item.created_at, item.id into near_at, near_id from public.consignments item where item.status = wanted and (item.created_at, item.id) < (near_at, near_id)
    order by item.created_at desc, item.id desc offset rank - place - 1 limit 1;
  end if;
  return query select item, total from public.consignments item where item.status = wanted
  and (item.created_at, item.id) <= (near_at, near_id) order by item.created_at desc, item.id desc limit greatest(least(take, place - older + 1), 0);
  -- The total is told in any case.
  if not found then return next; end if;
end $$;
--> statement-breakpoint
create function public.consignments_directory_page_by_status(wanted integer, since timestamptz, skip bigint, take integer,
  out ids uuid[], out total bigint)
language sql stable as $$
  select coalesce(array_agg((given).id order by place) filter (where (given).id is not null), '{}'),
    max(page.total)
  from public.consignments_directory_page_by_status(wanted, since, skip, take, true) with ordinality page (given, total, place)
$$;
--> statement-breakpoint
create function public.consignments_directory_page_by_edi_status(wanted integer, since timestamptz, skip bigint, take integer,
  totalled boolean, out given public.consignments, out total bigint)
returns setof record language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  older bigint := 0;
  place bigint;
  shelf record;
  bucket record;
  near_at timestamptz;
  near_id uuid;
  rank bigint;
begin
  if totalled or true then
    total := coalesce((select sum(n) from public.consignments_directory_shelves where filter = 'by_edi_status' and value = wanted::text), 0) + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.edi_status = wanted), 0);
  end if;
  if since is not null then
    select low_at, low_id into shelf from public.consignments_directory_shelves where filter = 'by_edi_status' and value = wanted::text and low_at < since
    order by low_at desc, low_id desc limit 1;
    select low_at, low_id into near_at, near_id from public.consignments_directory where filter = 'by_edi_status' and value = wanted::text and low_at < since
    order by low_at desc, low_id desc limit 1;
    if not found then
      select * into near_at, near_id from (select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid) lowest;
    end if;
    older := coalesce((select sum(n) from public.consignments_directory_shelves
        where filter = 'by_edi_status' and value = wanted::text and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
      + coalesce((select sum(n) from public.consignments_directory
        where filter = 'by_edi_status' and value = wanted::text and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near_at, near_id)), 0)
      + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.edi_status = wanted and (change.at, change.id) < (near_at, near_id)), 0)
      + (select count(*) from public.consignments item where item.edi_status = wanted and (item.created_at, item.id) >= (near_at, near_id) and item.created_at < since);
  end if;
  place := total - 1 - skip;
  total := total - older;
  select low_at, low_id, past - n as below into shelf from (
    select low_at, low_id, n, sum(n) over (order by low_at, low_id rows unbounded preceding) as past
    from public.consignments_directory_shelves where filter = 'by_edi_status' and value = wanted::text) run
  where past > place order by low_at, low_id limit 1;
  if found then
    select * into bucket from (
      select low_at, low_id, coalesce(lead(low_at) over key, top_at) as high_at,
        coalesce(lead(low_id) over key, top_id) as high_id, n, shelf.below + sum(n) over key as past
      from public.consignments_directory cross join (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) top (top_at, top_id)
      where filter = 'by_edi_status' and value = wanted::text and (low_at, low_id) >= (shelf.low_at, shelf.low_id)
      window key as (order by low_at, low_id rows unbounded preceding)) run
    where past > place order by low_at, low_id limit 1;
    if bucket.past - place > bucket.n / 2 then
      near_at := bucket.low_at; near_id := bucket.low_id; rank := bucket.past - bucket.n;
    else
      near_at := bucket.high_at; near_id := bucket.high_id; rank := bucket.past;
    end if;
  else
    -- Past all that has been counted: from the end.
    select * into near_at, near_id from (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) highest;
    rank := coalesce((select sum(n) from public.consignments_directory_shelves where filter = 'by_edi_status' and value = wanted::text), 0);
  end if;
  rank := rank + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.edi_status = wanted and (change.at, change.id) < (near_at, near_id)), 0);
  -- A boundary key need not be one of a row: only upwards can the list be read from it as it is.
  if rank <= place then
    select item.created_at, item.id into near_at, near_id from public.consignments item where item.edi_status = wanted and (item.created_at, item.id) >= (near_at, near_id)
    order by item.created_at, item.id offset place - rank limit 1;
  elsif rank > place then
    select item.created_at, item.id into near_at, near_id from public.consignments item where item.edi_status = wanted and (item.created_at, item.id) < (near_at, near_id)
    order by item.created_at desc, item.id desc offset rank - place - 1 limit 1;
  end if;
  return query select item, total from public.consignments item where item.edi_status = wanted
  and (item.created_at, item.id) <= (near_at, near_id) order by item.created_at desc, item.id desc limit greatest(least(take, place - older + 1), 0);
  -- The total is told in any case.
  if not found then return next; end if;
end $$;
--> statement-breakpoint
create function public.consignments_directory_page_by_edi_status(wanted integer, since timestamptz, skip bigint, take integer,
  out ids uuid[], out total bigint)
language sql stable as $$
  select coalesce(array_agg((given).id order by place) filter (where (given).id is not null), '{}'),
    max(page.total)
  from public.consignments_directory_page_by_edi_status(wanted, since, skip, take, true) with ordinality page (given, total, place)
$$;
--> statement-breakpoint
create function public.consignments_directory_stamp_all(wanted text) returns bigint
language plpgsql stable parallel safe set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return (select bit_xor(mark) from (
    select mark from public.consignments_directory_shelves where filter = 'all' and value = ''
    union all
    select mark from public.consignments_directory_changes change
    where xid >= (select folded_to from public.consignments_directory_state) and true) marks);
end $$;
--> statement-breakpoint
create function public.consignments_directory_stamp_by_client_id(wanted uuid) returns bigint
language plpgsql stable parallel safe set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return (select bit_xor(mark) from (
    select mark from public.consignments_directory_shelves where filter = 'by_client_id' and value = wanted::text
    union all
    select mark from public.consignments_directory_changes change
    where xid >= (select folded_to from public.consignments_directory_state) and change.client_id = wanted) marks);
end $$;
--> statement-breakpoint
create function public.consignments_directory_stamp_by_warehouse_id(wanted uuid) returns bigint
language plpgsql stable parallel safe set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return (select bit_xor(mark) from (
    select mark from public.consignments_directory_shelves where filter = 'by_warehouse_id' and value = wanted::text
    union all
    select mark from public.consignments_directory_changes change
    where xid >= (select folded_to from public.consignments_directory_state) and change.warehouse_id = wanted) marks);
end $$;
--> statement-breakpoint
create function public.consignments_directory_stamp_by_carrier_id(wanted uuid) returns bigint
language plpgsql stable parallel safe set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return (select bit_xor(mark) from (
    select mark from public.consignments_directory_shelves where filter = 'by_carrier_id' and value = wanted::text
    union all
    select mark from public.consignments_directory_changes change
    where xid >= (select folded_to from public.consignments_directory_state) and change.carrier_id = wanted) marks);
end $$;
--> statement-breakpoint
create function public.consignments_directory_stamp_by_status(wanted integer) returns bigint
language plpgsql stable parallel safe set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return (select bit_xor(mark) from (
    select mark from public.consignments_directory_shelves where filter = 'by_status' and value = wanted::text
    union all
    select mark from public.consignments_directory_changes change
    where xid >= (select folded_to from public.consignments_directory_state) and change.status = wanted) marks);
end $$;
--> statement-breakpoint
create function public.consignments_directory_stamp_by_edi_status(wanted integer) returns bigint
language plpgsql stable parallel safe set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return (select bit_xor(mark) from (
    select mark from public.consignments_directory_shelves where filter = 'by_edi_status' and value = wanted::text
    union all
    select mark from public.consignments_directory_changes change
    where xid >= (select folded_to from public.consignments_directory_state) and change.edi_status = wanted) marks);
end $$;
--> statement-breakpoint
create function public.consignments_directory_record() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into public.consignments_directory_changes (client_id, warehouse_id, carrier_id, status, edi_status, at, id, sign, xid) select client_id, warehouse_id, carrier_id, status, edi_status, created_at, id, 1, greatest(pg_current_xact_id(), (select folded_to from public.consignments_directory_state)) from fresh;
  elsif tg_op = 'DELETE' then
    insert into public.consignments_directory_changes (client_id, warehouse_id, carrier_id, status, edi_status, at, id, sign, xid) select client_id, warehouse_id, carrier_id, status, edi_status, created_at, id, -1, greatest(pg_current_xact_id(), (select folded_to from public.consignments_directory_state)) from stale;
  elsif tg_op = 'UPDATE' then
    -- A row that kept all of these cancels itself out.
    insert into public.consignments_directory_changes (client_id, warehouse_id, carrier_id, status, edi_status, at, id, sign, xid) select client_id, warehouse_id, carrier_id, status, edi_status, created_at, id, sum(sign), greatest(pg_current_xact_id(), (select folded_to from public.consignments_directory_state))
    from (select client_id, warehouse_id, carrier_id, status, edi_status, created_at, id, external_id, search_text, 1 as sign from fresh union all select client_id, warehouse_id, carrier_id, status, edi_status, created_at, id, external_id, search_text, -1 from stale) moved
    group by client_id, warehouse_id, carrier_id, status, edi_status, created_at, id, external_id, search_text having sum(sign) <> 0;
  else
    truncate public.consignments_directory_changes, public.consignments_directory, public.consignments_directory_shelves;
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger consignments_directory_insert after insert on public.consignments
  referencing new table as fresh for each statement execute function public.consignments_directory_record();
--> statement-breakpoint
create trigger consignments_directory_update after update on public.consignments
  referencing old table as stale new table as fresh for each statement execute function public.consignments_directory_record();
--> statement-breakpoint
create trigger consignments_directory_delete after delete on public.consignments
  referencing old table as stale for each statement execute function public.consignments_directory_record();
--> statement-breakpoint
create trigger consignments_directory_truncate after truncate on public.consignments
  for each statement execute function public.consignments_directory_record();
--> statement-breakpoint
select public.consignments_directory_rebuild();
--> statement-breakpoint
do $$ declare routine regprocedure; begin
  for routine in select oid from pg_proc
    where pronamespace = 'public'::regnamespace and starts_with(proname, 'inventory_directory_')
  loop execute format('drop function %s cascade', routine); end loop;
end $$;
--> statement-breakpoint
drop table if exists public.inventory_directory, public.inventory_directory_shelves, public.inventory_directory_changes, public.inventory_directory_state;
--> statement-breakpoint
drop index if exists public.inventory_order_all;
create index inventory_order_all on public.inventory (created_at, id) include (in_stock);
--> statement-breakpoint
drop index if exists public.inventory_order_by_partner_id;
create index inventory_order_by_partner_id on public.inventory (partner_id, created_at, id) include (in_stock);
--> statement-breakpoint
drop index if exists public.inventory_order_by_warehouse_id;
create index inventory_order_by_warehouse_id on public.inventory (warehouse_id, created_at, id) include (in_stock);
--> statement-breakpoint
drop index if exists public.inventory_order_by_in_stock;
create index inventory_order_by_in_stock on public.inventory (in_stock, created_at, id);
--> statement-breakpoint
-- A bucket holds the rows of one filter value from its key up to the next bucket's key. `n` counts them
-- but for the changes not yet folded in.
create table public.inventory_directory (
  filter text not null,
  value text not null,
  low_at timestamptz not null,
  low_id uuid not null,
  n integer not null,
  primary key (filter, value, low_at, low_id)
) with (fillfactor = 50);
--> statement-breakpoint
-- A shelf holds some neighbouring buckets: adding up goes over shelves first, then over the buckets of one.
-- `mark` is the exclusive or of the marks of all changes ever folded in.
create table public.inventory_directory_shelves (
  filter text not null,
  value text not null,
  low_at timestamptz not null,
  low_id uuid not null,
  n integer not null,
  mark bigint not null,
  primary key (filter, value, low_at, low_id)
) with (fillfactor = 50);
--> statement-breakpoint
-- One row for every row that came to (+1) or left (-1) its place in the list. Writers only ever add here, so
-- none waits for another. It sees the same commits and roll-backs as the list itself: that makes counts exact.
create table public.inventory_directory_changes as select partner_id, warehouse_id, in_stock, created_at as at, id as id from public.inventory with no data;
--> statement-breakpoint
alter table public.inventory_directory_changes
  add sign smallint not null,
  add mark bigint not null default random(-9223372036854775808, 9223372036854775807),
  add xid xid8 not null;
--> statement-breakpoint
create index inventory_directory_changes_xid on public.inventory_directory_changes (xid);
--> statement-breakpoint
alter table public.inventory_directory_changes set (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_cost_delay = 0);
--> statement-breakpoint
-- Every change with a lower transaction id than `folded_to` has been folded in. Reading from there on steps
-- over none of the dead rows that folding leaves until they are vacuumed. Locked by whoever changes buckets.
create table public.inventory_directory_state (folded_to xid8 not null);
--> statement-breakpoint
insert into public.inventory_directory_state values ('0');
--> statement-breakpoint
create function public.inventory_directory_shelve(of_filter text, of_value text) returns void language plpgsql as $$
declare
  mark_so_far bigint;
begin
  select bit_xor(mark) into mark_so_far from public.inventory_directory_shelves where filter = of_filter and value = of_value;
  delete from public.inventory_directory_shelves where filter = of_filter and value = of_value;
  insert into public.inventory_directory_shelves
  select of_filter, of_value, low_at, low_id, n, case when place = 1 then mark_so_far else 0 end from (
    select low_at, low_id, row_number() over key as place,
      sum(n) over (key rows between current row and 31 following) as n
    from public.inventory_directory where filter = of_filter and value = of_value
    window key as (order by low_at, low_id)) run
  where place % 32 = 1;
end $$;
--> statement-breakpoint
create function public.inventory_directory_split_all(wanted text, from_at timestamptz, from_id uuid)
returns void language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  whole integer;
  below integer;
  cut_at timestamptz;
  cut_id uuid;
begin
  loop
    select n into whole from public.inventory_directory
    where filter = 'all' and value = wanted and low_at = from_at and low_id = from_id;
    exit when whole <= 1000;
    select cut.at, cut.id, 500 - coalesce((select sum(sign) from public.inventory_directory_changes change
        where xid >= (select folded_to from public.inventory_directory_state) and true
          and (change.at, change.id) >= (from_at, from_id) and (change.at, change.id) < (cut.at, cut.id)), 0)
    into cut_at, cut_id, below
    from (
      select item.created_at, item.id from public.inventory item where true and (item.created_at, item.id) >= (from_at, from_id)
      order by item.created_at, item.id offset 500 limit 1) cut (at, id);
    -- Rows that were counted may be gone by now: then the next fold will see to it.
    exit when not found or exists (
      select from public.inventory_directory where filter = 'all' and value = wanted
        and (low_at, low_id) > (from_at, from_id) and (low_at, low_id) <= (cut_at, cut_id));
    update public.inventory_directory set n = below
    where filter = 'all' and value = wanted and low_at = from_at and low_id = from_id;
    insert into public.inventory_directory values ('all', wanted, cut_at, cut_id, whole - below);
    from_at := cut_at;
    from_id := cut_id;
  end loop;
end $$;
--> statement-breakpoint
create function public.inventory_directory_split_by_partner_id(wanted text, from_at timestamptz, from_id uuid)
returns void language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  whole integer;
  below integer;
  cut_at timestamptz;
  cut_id uuid;
begin
  loop
    select n into whole from public.inventory_directory
    where filter = 'by_partner_id' and value = wanted and low_at = from_at and low_id = from_id;
    exit when whole <= 1000;
    select cut.at, cut.id, 500 - coalesce((select sum(sign) from public.inventory_directory_changes change
        where xid >= (select folded_to from public.inventory_directory_state) and change.partner_id = wanted::uuid
          and (change.at, change.id) >= (from_at, from_id) and (change.at, change.id) < (cut.at, cut.id)), 0)
    into cut_at, cut_id, below
    from (
      select item.created_at, item.id from public.inventory item where item.partner_id = wanted::uuid and (item.created_at, item.id) >= (from_at, from_id)
      order by item.created_at, item.id offset 500 limit 1) cut (at, id);
    -- Rows that were counted may be gone by now: then the next fold will see to it.
    exit when not found or exists (
      select from public.inventory_directory where filter = 'by_partner_id' and value = wanted
        and (low_at, low_id) > (from_at, from_id) and (low_at, low_id) <= (cut_at, cut_id));
    update public.inventory_directory set n = below
    where filter = 'by_partner_id' and value = wanted and low_at = from_at and low_id = from_id;
    insert into public.inventory_directory values ('by_partner_id', wanted, cut_at, cut_id, whole - below);
    from_at := cut_at;
    from_id := cut_id;
  end loop;
end $$;
--> statement-breakpoint
create function public.inventory_directory_split_by_warehouse_id(wanted text, from_at timestamptz, from_id uuid)
returns void language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  whole integer;
  below integer;
  cut_at timestamptz;
  cut_id uuid;
begin
  loop
    select n into whole from public.inventory_directory
    where filter = 'by_warehouse_id' and value = wanted and low_at = from_at and low_id = from_id;
    exit when whole <= 1000;
    select cut.at, cut.id, 500 - coalesce((select sum(sign) from public.inventory_directory_changes change
        where xid >= (select folded_to from public.inventory_directory_state) and change.warehouse_id = wanted::uuid
          and (change.at, change.id) >= (from_at, from_id) and (change.at, change.id) < (cut.at, cut.id)), 0)
    into cut_at, cut_id, below
    from (
      select item.created_at, item.id from public.inventory item where item.warehouse_id = wanted::uuid and (item.created_at, item.id) >= (from_at, from_id)
      order by item.created_at, item.id offset 500 limit 1) cut (at, id);
    -- Rows that were counted may be gone by now: then the next fold will see to it.
    exit when not found or exists (
      select from public.inventory_directory where filter = 'by_warehouse_id' and value = wanted
        and (low_at, low_id) > (from_at, from_id) and (low_at, low_id) <= (cut_at, cut_id));
    update public.inventory_directory set n = below
    where filter = 'by_warehouse_id' and value = wanted and low_at = from_at and low_id = from_id;
    insert into public.inventory_directory values ('by_warehouse_id', wanted, cut_at, cut_id, whole - below);
    from_at := cut_at;
    from_id := cut_id;
  end loop;
end $$;
--> statement-breakpoint
create function public.inventory_directory_split_by_in_stock(wanted text, from_at timestamptz, from_id uuid)
returns void language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  whole integer;
  below integer;
  cut_at timestamptz;
  cut_id uuid;
begin
  loop
    select n into whole from public.inventory_directory
    where filter = 'by_in_stock' and value = wanted and low_at = from_at and low_id = from_id;
    exit when whole <= 1000;
    select cut.at, cut.id, 500 - coalesce((select sum(sign) from public.inventory_directory_changes change
        where xid >= (select folded_to from public.inventory_directory_state) and change.in_stock = wanted::boolean
          and (change.at, change.id) >= (from_at, from_id) and (change.at, change.id) < (cut.at, cut.id)), 0)
    into cut_at, cut_id, below
    from (
      select item.created_at, item.id from public.inventory item where item.in_stock = wanted::boolean and (item.created_at, item.id) >= (from_at, from_id)
      order by item.created_at, item.id offset 500 limit 1) cut (at, id);
    -- Rows that were counted may be gone by now: then the next fold will see to it.
    exit when not found or exists (
      select from public.inventory_directory where filter = 'by_in_stock' and value = wanted
        and (low_at, low_id) > (from_at, from_id) and (low_at, low_id) <= (cut_at, cut_id));
    update public.inventory_directory set n = below
    where filter = 'by_in_stock' and value = wanted and low_at = from_at and low_id = from_id;
    insert into public.inventory_directory values ('by_in_stock', wanted, cut_at, cut_id, whole - below);
    from_at := cut_at;
    from_id := cut_id;
  end loop;
end $$;
--> statement-breakpoint
create function public.inventory_directory_split(overfull public.inventory_directory[]) returns void language plpgsql as $$
declare
  bucket public.inventory_directory;
begin
  foreach bucket in array overfull loop
    execute format('select public.%I($1, $2, $3)', 'inventory_directory_split_' || bucket.filter)
    using bucket.value, bucket.low_at, bucket.low_id;
  end loop;
  perform public.inventory_directory_shelve(filter, value)
  from (select distinct filter, value from unnest(overfull)) changed;
end $$;
--> statement-breakpoint
create function public.inventory_directory_fold(most integer default 5000) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  folded integer;
  overfull public.inventory_directory[];
begin
  -- Nothing to do is the usual case: it must not cost a transaction id and a write.
  if not exists (select from public.inventory_directory_changes where xid >= (select folded_to from public.inventory_directory_state)) then return 0; end if;
  -- TRUNCATE has the list before it asks for the rest; in another order the two could wait for each other.
  lock table public.inventory in access share mode;
  perform from public.inventory_directory_state for update skip locked;
  if not found then return 0; end if;
  -- One statement, one snapshot: what is taken from the changes is what is added to the counts.
  with lowest (at, id) as (
    select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid
  ), gone as (
    delete from public.inventory_directory_changes where ctid = any (array(select ctid from public.inventory_directory_changes where xid >= (select folded_to from public.inventory_directory_state) order by xid limit most))
    returning *
  ), newest_all as materialized (
    -- Most changes are near the end of the list: its last bucket that matters is looked up once a value.
    select newest.value, coalesce(low_at, lowest.at) as low_at, coalesce(low_id, lowest.id) as low_id
    from (select ''::text as value, max(at) as at from gone group by 1) newest cross join lowest
    left join lateral (
      select low_at, low_id from public.inventory_directory held
      where held.filter = 'all' and held.value = '' and low_at <= newest.at
      order by low_at desc, low_id desc limit 1) bucket on true
    where newest.value is not null
  ), bucketed_all as (
    select 'all' as filter, '' as value, coalesce(bucket.low_at, newest.low_at) as low_at,
      coalesce(bucket.low_id, newest.low_id) as low_id, sum(sign) as n, bit_xor(mark) as mark
    from gone join newest_all newest on newest.value = ''::text
    left join lateral (
      select low_at, low_id from public.inventory_directory held
      where held.filter = 'all' and held.value = '' and (gone.at, gone.id) < (newest.low_at, newest.low_id) and (low_at, low_id) <= (gone.at, gone.id)
      order by low_at desc, low_id desc limit 1) bucket on true
    group by newest.value, 3, 4
  ), newest_by_partner_id as materialized (
    -- Most changes are near the end of the list: its last bucket that matters is looked up once a value.
    select newest.value, coalesce(low_at, lowest.at) as low_at, coalesce(low_id, lowest.id) as low_id
    from (select gone.partner_id as value, max(at) as at from gone group by 1) newest cross join lowest
    left join lateral (
      select low_at, low_id from public.inventory_directory held
      where held.filter = 'by_partner_id' and held.value = newest.value::text and low_at <= newest.at
      order by low_at desc, low_id desc limit 1) bucket on true
    where newest.value is not null
  ), bucketed_by_partner_id as (
    select 'by_partner_id' as filter, newest.value::text as value, coalesce(bucket.low_at, newest.low_at) as low_at,
      coalesce(bucket.low_id, newest.low_id) as low_id, sum(sign) as n, bit_xor(mark) as mark
    from gone join newest_by_partner_id newest on newest.value = gone.partner_id
    left join lateral (
      select low_at, low_id from public.inventory_directory held
      where held.filter = 'by_partner_id' and held.value = newest.value::text and (gone.at, gone.id) < (newest.low_at, newest.low_id) and (low_at, low_id) <= (gone.at, gone.id)
      order by low_at desc, low_id desc limit 1) bucket on true
    group by newest.value, 3, 4
  ), newest_by_warehouse_id as materialized (
    -- Most changes are near the end of the list: its last bucket that matters is looked up once a value.
    select newest.value, coalesce(low_at, lowest.at) as low_at, coalesce(low_id, lowest.id) as low_id
    from (select gone.warehouse_id as value, max(at) as at from gone group by 1) newest cross join lowest
    left join lateral (
      select low_at, low_id from public.inventory_directory held
      where held.filter = 'by_warehouse_id' and held.value = newest.value::text and low_at <= newest.at
      order by low_at desc, low_id desc limit 1) bucket on true
    where newest.value is not null
  ), bucketed_by_warehouse_id as (
    select 'by_warehouse_id' as filter, newest.value::text as value, coalesce(bucket.low_at, newest.low_at) as low_at,
      coalesce(bucket.low_id, newest.low_id) as low_id, sum(sign) as n, bit_xor(mark) as mark
    from gone join newest_by_warehouse_id newest on newest.value = gone.warehouse_id
    left join lateral (
      select low_at, low_id from public.inventory_directory held
      where held.filter = 'by_warehouse_id' and held.value = newest.value::text and (gone.at, gone.id) < (newest.low_at, newest.low_id) and (low_at, low_id) <= (gone.at, gone.id)
      order by low_at desc, low_id desc limit 1) bucket on true
    group by newest.value, 3, 4
  ), newest_by_in_stock as materialized (
    -- Most changes are near the end of the list: its last bucket that matters is looked up once a value.
    select newest.value, coalesce(low_at, lowest.at) as low_at, coalesce(low_id, lowest.id) as low_id
    from (select gone.in_stock as value, max(at) as at from gone group by 1) newest cross join lowest
    left join lateral (
      select low_at, low_id from public.inventory_directory held
      where held.filter = 'by_in_stock' and held.value = newest.value::text and low_at <= newest.at
      order by low_at desc, low_id desc limit 1) bucket on true
    where newest.value is not null
  ), bucketed_by_in_stock as (
    select 'by_in_stock' as filter, newest.value::text as value, coalesce(bucket.low_at, newest.low_at) as low_at,
      coalesce(bucket.low_id, newest.low_id) as low_id, sum(sign) as n, bit_xor(mark) as mark
    from gone join newest_by_in_stock newest on newest.value = gone.in_stock
    left join lateral (
      select low_at, low_id from public.inventory_directory held
      where held.filter = 'by_in_stock' and held.value = newest.value::text and (gone.at, gone.id) < (newest.low_at, newest.low_id) and (low_at, low_id) <= (gone.at, gone.id)
      order by low_at desc, low_id desc limit 1) bucket on true
    group by newest.value, 3, 4
  ), bucketed as materialized (
    select * from bucketed_all union all select * from bucketed_by_partner_id union all select * from bucketed_by_warehouse_id union all select * from bucketed_by_in_stock
  ), shelved as (
    select bucketed.filter, bucketed.value, coalesce(shelf.low_at, lowest.at) as low_at,
      coalesce(shelf.low_id, lowest.id) as low_id, sum(n) as n, bit_xor(mark) as mark
    from bucketed cross join lowest
    left join lateral (
      select low_at, low_id from public.inventory_directory_shelves held
      where held.filter = bucketed.filter and held.value = bucketed.value and (low_at, low_id) <= (bucketed.low_at, bucketed.low_id)
      order by low_at desc, low_id desc limit 1) shelf on true
    group by 1, 2, 3, 4
  ), counted_buckets as (
    insert into public.inventory_directory as held select filter, value, low_at, low_id, n from bucketed
    on conflict (filter, value, low_at, low_id) do update set n = held.n + excluded.n
    returning held
  ), counted_shelves as (
    insert into public.inventory_directory_shelves as held select filter, value, low_at, low_id, n, mark from shelved
    on conflict (filter, value, low_at, low_id)
    do update set n = held.n + excluded.n, mark = held.mark # excluded.mark
  ), settled as (
    -- What this snapshot can't see yet has a transaction id from its xmin on.
    update public.inventory_directory_state set folded_to = least(pg_snapshot_xmin(pg_current_snapshot()),
      (select max(xid) from gone having count(*) = most))
  )
  select (select count(*) from gone), array(select held from counted_buckets where (held).n > 1000)
  into folded, overfull;
  -- While it lags behind, every split would read the whole backlog; later is soon enough.
  if folded < most then perform public.inventory_directory_split(overfull); end if;
  return folded;
end $$;
--> statement-breakpoint
create function public.inventory_directory_thin() returns void language plpgsql as $$
declare
  sparse record;
begin
  perform from public.inventory_directory_state for update skip locked;
  if not found then return; end if;
  -- Written, not only locked: a REPEATABLE READ session that still sees the old buckets must fail, not fold.
  update public.inventory_directory_state set folded_to = folded_to;
  -- Folding may have left some behind while it lagged.
  perform public.inventory_directory_split(array(select held from public.inventory_directory held where n > 1000));
  for sparse in
    select filter, value from public.inventory_directory group by filter, value
    having count(*) > 2 + 2 * sum(greatest(n, 0)) / 500
  loop
    -- The running total cut into pieces of one bucket each: a piece is a run of neighbours.
    with run as (
      select low_at, low_id, n, (sum(greatest(n, 0)) over (order by low_at, low_id)
        - greatest(n, 0)) / 500 as piece
      from public.inventory_directory where filter = sparse.filter and value = sparse.value
    ), joined as (
      select low_at, low_id, sum(n) over (partition by piece) as n,
        row_number() over (partition by piece order by low_at, low_id) = 1 as stays
      from run
    ), gone as (
      delete from public.inventory_directory held using joined
      where not stays and held.filter = sparse.filter and held.value = sparse.value
        and held.low_at = joined.low_at and held.low_id = joined.low_id
    )
    update public.inventory_directory held set n = joined.n from joined
    where stays and held.filter = sparse.filter and held.value = sparse.value
      and held.low_at = joined.low_at and held.low_id = joined.low_id;
    perform public.inventory_directory_shelve(sparse.filter, sparse.value);
  end loop;
  with gone as (
    delete from public.inventory_directory held where n = 0 and not exists (
      select from public.inventory_directory other where other.filter = held.filter and other.value = held.value
        and (other.low_at, other.low_id) <> (held.low_at, held.low_id))
    returning filter, value)
  delete from public.inventory_directory_shelves using gone
  where public.inventory_directory_shelves.filter = gone.filter and public.inventory_directory_shelves.value = gone.value;
end $$;
--> statement-breakpoint
create function public.inventory_directory_rebuild() returns void language plpgsql as $$
begin
  lock table public.inventory in access share mode;
  perform from public.inventory_directory_state for update;
  delete from public.inventory_directory;
  delete from public.inventory_directory_shelves;
  -- One statement, one snapshot: the changes it takes away are those whose rows it counts.
  with gone as (
    delete from public.inventory_directory_changes
  ), settled as (
    update public.inventory_directory_state set folded_to = pg_snapshot_xmin(pg_current_snapshot())
  ), counted as (
    select 'all' as filter, '' as value, count(*) as n from public.inventory item
      where ''::text is not null group by ''::text
    union all
    select 'by_partner_id' as filter, item.partner_id::text as value, count(*) as n from public.inventory item
      where item.partner_id is not null group by item.partner_id
    union all
    select 'by_warehouse_id' as filter, item.warehouse_id::text as value, count(*) as n from public.inventory item
      where item.warehouse_id is not null group by item.warehouse_id
    union all
    select 'by_in_stock' as filter, item.in_stock::text as value, count(*) as n from public.inventory item
      where item.in_stock is not null group by item.in_stock
  ), shelved as (
    insert into public.inventory_directory_shelves
    select filter, value, '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid, n, random(-9223372036854775808, 9223372036854775807) from counted
  )
  insert into public.inventory_directory select filter, value, '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid, n from counted;
  perform public.inventory_directory_split(array(
    select bucket from public.inventory_directory bucket where n > 1000));
end $$;
--> statement-breakpoint
create function public.inventory_directory_drift() returns bigint language plpgsql stable
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return (select coalesce(sum(off), 0) from (
  select abs(n - coalesce((select sum(bucket.n) from public.inventory_directory bucket
      where bucket.filter = shelf.filter and bucket.value = shelf.value
        and (bucket.low_at, bucket.low_id) >= (shelf.low_at, shelf.low_id)
        and (bucket.low_at, bucket.low_id) < (shelf.high_at, shelf.high_id)), 0)) as off
  from (
    select filter, value, n, low_at, low_id, coalesce(lead(low_at) over after, top_at) as high_at,
      coalesce(lead(low_id) over after, top_id) as high_id
    from (select * from public.inventory_directory_shelves) low cross join (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) top (top_at, top_id)
    window after as (partition by filter, value order by low_at, low_id)) shelf
  union all
  select abs(n
      + (select coalesce(sum(sign), 0) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state)
        and true and (at, id) >= (low_at, low_id) and (at, id) < (high_at, high_id))
      - (select count(*) from public.inventory item
        where true and (item.created_at, item.id) >= (low_at, low_id) and (item.created_at, item.id) < (high_at, high_id))) as off
  from (
    select filter, value, n, low_at, low_id, coalesce(lead(low_at) over after, top_at) as high_at,
      coalesce(lead(low_id) over after, top_id) as high_id
    from (select * from public.inventory_directory where filter = 'all') low cross join (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) top (top_at, top_id)
    window after as (partition by filter, value order by low_at, low_id)) bucket
  union all
  select abs(sum(n)) from (
    select '' as value, sign as n from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and '' not in (select value from public.inventory_directory where filter = 'all')
    union all
    select '', -1 from public.inventory item where '' not in (select value from public.inventory_directory where filter = 'all')) rest
  where value is not null group by value
  union all
  select abs(n
      + (select coalesce(sum(sign), 0) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state)
        and change.partner_id = bucket.value::uuid and (at, id) >= (low_at, low_id) and (at, id) < (high_at, high_id))
      - (select count(*) from public.inventory item
        where item.partner_id = bucket.value::uuid and (item.created_at, item.id) >= (low_at, low_id) and (item.created_at, item.id) < (high_at, high_id))) as off
  from (
    select filter, value, n, low_at, low_id, coalesce(lead(low_at) over after, top_at) as high_at,
      coalesce(lead(low_id) over after, top_id) as high_id
    from (select * from public.inventory_directory where filter = 'by_partner_id') low cross join (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) top (top_at, top_id)
    window after as (partition by filter, value order by low_at, low_id)) bucket
  union all
  select abs(sum(n)) from (
    select change.partner_id::text as value, sign as n from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and change.partner_id::text not in (select value from public.inventory_directory where filter = 'by_partner_id')
    union all
    select item.partner_id::text, -1 from public.inventory item where item.partner_id::text not in (select value from public.inventory_directory where filter = 'by_partner_id')) rest
  where value is not null group by value
  union all
  select abs(n
      + (select coalesce(sum(sign), 0) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state)
        and change.warehouse_id = bucket.value::uuid and (at, id) >= (low_at, low_id) and (at, id) < (high_at, high_id))
      - (select count(*) from public.inventory item
        where item.warehouse_id = bucket.value::uuid and (item.created_at, item.id) >= (low_at, low_id) and (item.created_at, item.id) < (high_at, high_id))) as off
  from (
    select filter, value, n, low_at, low_id, coalesce(lead(low_at) over after, top_at) as high_at,
      coalesce(lead(low_id) over after, top_id) as high_id
    from (select * from public.inventory_directory where filter = 'by_warehouse_id') low cross join (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) top (top_at, top_id)
    window after as (partition by filter, value order by low_at, low_id)) bucket
  union all
  select abs(sum(n)) from (
    select change.warehouse_id::text as value, sign as n from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and change.warehouse_id::text not in (select value from public.inventory_directory where filter = 'by_warehouse_id')
    union all
    select item.warehouse_id::text, -1 from public.inventory item where item.warehouse_id::text not in (select value from public.inventory_directory where filter = 'by_warehouse_id')) rest
  where value is not null group by value
  union all
  select abs(n
      + (select coalesce(sum(sign), 0) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state)
        and change.in_stock = bucket.value::boolean and (at, id) >= (low_at, low_id) and (at, id) < (high_at, high_id))
      - (select count(*) from public.inventory item
        where item.in_stock = bucket.value::boolean and (item.created_at, item.id) >= (low_at, low_id) and (item.created_at, item.id) < (high_at, high_id))) as off
  from (
    select filter, value, n, low_at, low_id, coalesce(lead(low_at) over after, top_at) as high_at,
      coalesce(lead(low_id) over after, top_id) as high_id
    from (select * from public.inventory_directory where filter = 'by_in_stock') low cross join (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) top (top_at, top_id)
    window after as (partition by filter, value order by low_at, low_id)) bucket
  union all
  select abs(sum(n)) from (
    select change.in_stock::text as value, sign as n from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and change.in_stock::text not in (select value from public.inventory_directory where filter = 'by_in_stock')
    union all
    select item.in_stock::text, -1 from public.inventory item where item.in_stock::text not in (select value from public.inventory_directory where filter = 'by_in_stock')) rest
  where value is not null group by value) parts);
end $$;
--> statement-breakpoint
create function public.inventory_directory_page_all(wanted text, since timestamptz, skip bigint, take integer,
  totalled boolean, out given public.inventory, out total bigint)
returns setof record language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  older bigint := 0;
  place bigint;
  shelf record;
  bucket record;
  near_at timestamptz;
  near_id uuid;
  rank bigint;
begin
  if totalled or true then
    total := coalesce((select sum(n) from public.inventory_directory_shelves where filter = 'all' and value = ''), 0) + coalesce((select sum(sign) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and true), 0);
  end if;
  if since is not null then
    select low_at, low_id into shelf from public.inventory_directory_shelves where filter = 'all' and value = '' and low_at < since
    order by low_at desc, low_id desc limit 1;
    select low_at, low_id into near_at, near_id from public.inventory_directory where filter = 'all' and value = '' and low_at < since
    order by low_at desc, low_id desc limit 1;
    if not found then
      select * into near_at, near_id from (select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid) lowest;
    end if;
    older := coalesce((select sum(n) from public.inventory_directory_shelves
        where filter = 'all' and value = '' and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
      + coalesce((select sum(n) from public.inventory_directory
        where filter = 'all' and value = '' and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near_at, near_id)), 0)
      + coalesce((select sum(sign) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and true and (change.at, change.id) < (near_at, near_id)), 0)
      + (select count(*) from public.inventory item where true and (item.created_at, item.id) >= (near_at, near_id) and item.created_at < since);
  end if;
  place := total - 1 - skip;
  total := total - older;
  select low_at, low_id, past - n as below into shelf from (
    select low_at, low_id, n, sum(n) over (order by low_at, low_id rows unbounded preceding) as past
    from public.inventory_directory_shelves where filter = 'all' and value = '') run
  where past > place order by low_at, low_id limit 1;
  if found then
    select * into bucket from (
      select low_at, low_id, coalesce(lead(low_at) over key, top_at) as high_at,
        coalesce(lead(low_id) over key, top_id) as high_id, n, shelf.below + sum(n) over key as past
      from public.inventory_directory cross join (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) top (top_at, top_id)
      where filter = 'all' and value = '' and (low_at, low_id) >= (shelf.low_at, shelf.low_id)
      window key as (order by low_at, low_id rows unbounded preceding)) run
    where past > place order by low_at, low_id limit 1;
    if bucket.past - place > bucket.n / 2 then
      near_at := bucket.low_at; near_id := bucket.low_id; rank := bucket.past - bucket.n;
    else
      near_at := bucket.high_at; near_id := bucket.high_id; rank := bucket.past;
    end if;
  else
    -- Past all that has been counted: from the end.
    select * into near_at, near_id from (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) highest;
    rank := coalesce((select sum(n) from public.inventory_directory_shelves where filter = 'all' and value = ''), 0);
  end if;
  rank := rank + coalesce((select sum(sign) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and true and (change.at, change.id) < (near_at, near_id)), 0);
  -- A boundary key need not be one of a row: only upwards can the list be read from it as it is.
  if rank <= place then
    select item.created_at, item.id into near_at, near_id from public.inventory item where true and (item.created_at, item.id) >= (near_at, near_id)
    order by item.created_at, item.id offset place - rank limit 1;
  elsif rank > place then
    select item.created_at, item.id into near_at, near_id from public.inventory item where true and (item.created_at, item.id) < (near_at, near_id)
    order by item.created_at desc, item.id desc offset rank - place - 1 limit 1;
  end if;
  return query select item, total from public.inventory item where true
  and (item.created_at, item.id) <= (near_at, near_id) order by item.created_at desc, item.id desc limit greatest(least(take, place - older + 1), 0);
  -- The total is told in any case.
  if not found then return next; end if;
end $$;
--> statement-breakpoint
create function public.inventory_directory_page_all(wanted text, since timestamptz, skip bigint, take integer,
  out ids uuid[], out total bigint)
language sql stable as $$
  select coalesce(array_agg((given).id order by place) filter (where (given).id is not null), '{}'),
    max(page.total)
  from public.inventory_directory_page_all(wanted, since, skip, take, true) with ordinality page (given, total, place)
$$;
--> statement-breakpoint
create function public.inventory_directory_page_by_partner_id(wanted uuid, since timestamptz, skip bigint, take integer,
  totalled boolean, out given public.inventory, out total bigint)
returns setof record language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  older bigint := 0;
  place bigint;
  shelf record;
  bucket record;
  near_at timestamptz;
  near_id uuid;
  rank bigint;
begin
  if totalled or true then
    total := coalesce((select sum(n) from public.inventory_directory_shelves where filter = 'by_partner_id' and value = wanted::text), 0) + coalesce((select sum(sign) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and change.partner_id = wanted), 0);
  end if;
  if since is not null then
    select low_at, low_id into shelf from public.inventory_directory_shelves where filter = 'by_partner_id' and value = wanted::text and low_at < since
    order by low_at desc, low_id desc limit 1;
    select low_at, low_id into near_at, near_id from public.inventory_directory where filter = 'by_partner_id' and value = wanted::text and low_at < since
    order by low_at desc, low_id desc limit 1;
    if not found then
      select * into near_at, near_id from (select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid) lowest;
    end if;
    older := coalesce((select sum(n) from public.inventory_directory_shelves
        where filter = 'by_partner_id' and value = wanted::text and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
      + coalesce((select sum(n) from public.inventory_directory
        where filter = 'by_partner_id' and value = wanted::text and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near_at, near_id)), 0)
      + coalesce((select sum(sign) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and change.partner_id = wanted and (change.at, change.id) < (near_at, near_id)), 0)
      + (select count(*) from public.inventory item where item.partner_id = wanted and (item.created_at, item.id) >= (near_at, near_id) and item.created_at < since);
  end if;
  place := total - 1 - skip;
  total := total - older;
  select low_at, low_id, past - n as below into shelf from (
    select low_at, low_id, n, sum(n) over (order by low_at, low_id rows unbounded preceding) as past
    from public.inventory_directory_shelves where filter = 'by_partner_id' and value = wanted::text) run
  where past > place order by low_at, low_id limit 1;
  if found then
    select * into bucket from (
      select low_at, low_id, coalesce(lead(low_at) over key, top_at) as high_at,
        coalesce(lead(low_id) over key, top_id) as high_id, n, shelf.below + sum(n) over key as past
      from public.inventory_directory cross join (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) top (top_at, top_id)
      where filter = 'by_partner_id' and value = wanted::text and (low_at, low_id) >= (shelf.low_at, shelf.low_id)
      window key as (order by low_at, low_id rows unbounded preceding)) run
    where past > place order by low_at, low_id limit 1;
    if bucket.past - place > bucket.n / 2 then
      near_at := bucket.low_at; near_id := bucket.low_id; rank := bucket.past - bucket.n;
    else
      near_at := bucket.high_at; near_id := bucket.high_id; rank := bucket.past;
    end if;
  else
    -- Past all that has been counted: from the end.
    select * into near_at, near_id from (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) highest;
    rank := coalesce((select sum(n) from public.inventory_directory_shelves where filter = 'by_partner_id' and value = wanted::text), 0);
  end if;
  rank := rank + coalesce((select sum(sign) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and change.partner_id = wanted and (change.at, change.id) < (near_at, near_id)), 0);
  -- A boundary key need not be one of a row: only upwards can the list be read from it as it is.
  if rank <= place then
    select item.created_at, item.id into near_at, near_id from public.inventory item where item.partner_id = wanted and (item.created_at, item.id) >= (near_at, near_id)
    order by item.created_at, item.id offset place - rank limit 1;
  elsif rank > place then
    select item.created_at, item.id into near_at, near_id from public.inventory item where item.partner_id = wanted and (item.created_at, item.id) < (near_at, near_id)
    order by item.created_at desc, item.id desc offset rank - place - 1 limit 1;
  end if;
  return query select item, total from public.inventory item where item.partner_id = wanted
  and (item.created_at, item.id) <= (near_at, near_id) order by item.created_at desc, item.id desc limit greatest(least(take, place - older + 1), 0);
  -- The total is told in any case.
  if not found then return next; end if;
end $$;
--> statement-breakpoint
create function public.inventory_directory_page_by_partner_id(wanted uuid, since timestamptz, skip bigint, take integer,
  out ids uuid[], out total bigint)
language sql stable as $$
  select coalesce(array_agg((given).id order by place) filter (where (given).id is not null), '{}'),
    max(page.total)
  from public.inventory_directory_page_by_partner_id(wanted, since, skip, take, true) with ordinality page (given, total, place)
$$;
--> statement-breakpoint
create function public.inventory_directory_page_by_warehouse_id(wanted uuid, since timestamptz, skip bigint, take integer,
  totalled boolean, out given public.inventory, out total bigint)
returns setof record language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  older bigint := 0;
  place bigint;
  shelf record;
  bucket record;
  near_at timestamptz;
  near_id uuid;
  rank bigint;
begin
  if totalled or true then
    total := coalesce((select sum(n) from public.inventory_directory_shelves where filter = 'by_warehouse_id' and value = wanted::text), 0) + coalesce((select sum(sign) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and change.warehouse_id = wanted), 0);
  end if;
  if since is not null then
    select low_at, low_id into shelf from public.inventory_directory_shelves where filter = 'by_warehouse_id' and value = wanted::text and low_at < since
    order by low_at desc, low_id desc limit 1;
    select low_at, low_id into near_at, near_id from public.inventory_directory where filter = 'by_warehouse_id' and value = wanted::text and low_at < since
    order by low_at desc, low_id desc limit 1;
    if not found then
      select * into near_at, near_id from (select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid) lowest;
    end if;
    older := coalesce((select sum(n) from public.inventory_directory_shelves
        where filter = 'by_warehouse_id' and value = wanted::text and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
      + coalesce((select sum(n) from public.inventory_directory
        where filter = 'by_warehouse_id' and value = wanted::text and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near_at, near_id)), 0)
      + coalesce((select sum(sign) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and change.warehouse_id = wanted and (change.at, change.id) < (near_at, near_id)), 0)
      + (select count(*) from public.inventory item where item.warehouse_id = wanted and (item.created_at, item.id) >= (near_at, near_id) and item.created_at < since);
  end if;
  place := total - 1 - skip;
  total := total - older;
  select low_at, low_id, past - n as below into shelf from (
    select low_at, low_id, n, sum(n) over (order by low_at, low_id rows unbounded preceding) as past
    from public.inventory_directory_shelves where filter = 'by_warehouse_id' and value = wanted::text) run
  where past > place order by low_at, low_id limit 1;
  if found then
    select * into bucket from (
      select low_at, low_id, coalesce(lead(low_at) over key, top_at) as high_at,
        coalesce(lead(low_id) over key, top_id) as high_id, n, shelf.below + sum(n) over key as past
      from public.inventory_directory cross join (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) top (top_at, top_id)
      where filter = 'by_warehouse_id' and value = wanted::text and (low_at, low_id) >= (shelf.low_at, shelf.low_id)
      window key as (order by low_at, low_id rows unbounded preceding)) run
    where past > place order by low_at, low_id limit 1;
    if bucket.past - place > bucket.n / 2 then
      near_at := bucket.low_at; near_id := bucket.low_id; rank := bucket.past - bucket.n;
    else
      near_at := bucket.high_at; near_id := bucket.high_id; rank := bucket.past;
    end if;
  else
    -- Past all that has been counted: from the end.
    select * into near_at, near_id from (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) highest;
    rank := coalesce((select sum(n) from public.inventory_directory_shelves where filter = 'by_warehouse_id' and value = wanted::text), 0);
  end if;
  rank := rank + coalesce((select sum(sign) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and change.warehouse_id = wanted and (change.at, change.id) < (near_at, near_id)), 0);
  -- A boundary key need not be one of a row: only upwards can the list be read from it as it is.
  if rank <= place then
    select item.created_at, item.id into near_at, near_id from public.inventory item where item.warehouse_id = wanted and (item.created_at, item.id) >= (near_at, near_id)
    order by item.created_at, item.id offset place - rank limit 1;
  elsif rank > place then
    select item.created_at, item.id into near_at, near_id from public.inventory item where item.warehouse_id = wanted and (item.created_at, item.id) < (near_at, near_id)
    order by item.created_at desc, item.id desc offset rank - place - 1 limit 1;
  end if;
  return query select item, total from public.inventory item where item.warehouse_id = wanted
  and (item.created_at, item.id) <= (near_at, near_id) order by item.created_at desc, item.id desc limit greatest(least(take, place - older + 1), 0);
  -- The total is told in any case.
  if not found then return next; end if;
end $$;
--> statement-breakpoint
create function public.inventory_directory_page_by_warehouse_id(wanted uuid, since timestamptz, skip bigint, take integer,
  out ids uuid[], out total bigint)
language sql stable as $$
  select coalesce(array_agg((given).id order by place) filter (where (given).id is not null), '{}'),
    max(page.total)
  from public.inventory_directory_page_by_warehouse_id(wanted, since, skip, take, true) with ordinality page (given, total, place)
$$;
--> statement-breakpoint
create function public.inventory_directory_page_by_in_stock(wanted boolean, since timestamptz, skip bigint, take integer,
  totalled boolean, out given public.inventory, out total bigint)
returns setof record language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  older bigint := 0;
  place bigint;
  shelf record;
  bucket record;
  near_at timestamptz;
  near_id uuid;
  rank bigint;
begin
  if totalled or true then
    total := coalesce((select sum(n) from public.inventory_directory_shelves where filter = 'by_in_stock' and value = wanted::text), 0) + coalesce((select sum(sign) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and change.in_stock = wanted), 0);
  end if;
  if since is not null then
    select low_at, low_id into shelf from public.inventory_directory_shelves where filter = 'by_in_stock' and value = wanted::text and low_at < since
    order by low_at desc, low_id desc limit 1;
    select low_at, low_id into near_at, near_id from public.inventory_directory where filter = 'by_in_stock' and value = wanted::text and low_at < since
    order by low_at desc, low_id desc limit 1;
    if not found then
      select * into near_at, near_id from (select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid) lowest;
    end if;
    older := coalesce((select sum(n) from public.inventory_directory_shelves
        where filter = 'by_in_stock' and value = wanted::text and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
      + coalesce((select sum(n) from public.inventory_directory
        where filter = 'by_in_stock' and value = wanted::text and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near_at, near_id)), 0)
      + coalesce((select sum(sign) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and change.in_stock = wanted and (change.at, change.id) < (near_at, near_id)), 0)
      + (select count(*) from public.inventory item where item.in_stock = wanted and (item.created_at, item.id) >= (near_at, near_id) and item.created_at < since);
  end if;
  place := total - 1 - skip;
  total := total - older;
  select low_at, low_id, past - n as below into shelf from (
    select low_at, low_id, n, sum(n) over (order by low_at, low_id rows unbounded preceding) as past
    from public.inventory_directory_shelves where filter = 'by_in_stock' and value = wanted::text) run
  where past > place order by low_at, low_id limit 1;
  if found then
    select * into bucket from (
      select low_at, low_id, coalesce(lead(low_at) over key, top_at) as high_at,
        coalesce(lead(low_id) over key, top_id) as high_id, n, shelf.below + sum(n) over key as past
      from public.inventory_directory cross join (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) top (top_at, top_id)
      where filter = 'by_in_stock' and value = wanted::text and (low_at, low_id) >= (shelf.low_at, shelf.low_id)
      window key as (order by low_at, low_id rows unbounded preceding)) run
    where past > place order by low_at, low_id limit 1;
    if bucket.past - place > bucket.n / 2 then
      near_at := bucket.low_at; near_id := bucket.low_id; rank := bucket.past - bucket.n;
    else
      near_at := bucket.high_at; near_id := bucket.high_id; rank := bucket.past;
    end if;
  else
    -- Past all that has been counted: from the end.
    select * into near_at, near_id from (select 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) highest;
    rank := coalesce((select sum(n) from public.inventory_directory_shelves where filter = 'by_in_stock' and value = wanted::text), 0);
  end if;
  rank := rank + coalesce((select sum(sign) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and change.in_stock = wanted and (change.at, change.id) < (near_at, near_id)), 0);
  -- A boundary key need not be one of a row: only upwards can the list be read from it as it is.
  if rank <= place then
    select item.created_at, item.id into near_at, near_id from public.inventory item where item.in_stock = wanted and (item.created_at, item.id) >= (near_at, near_id)
    order by item.created_at, item.id offset place - rank limit 1;
  elsif rank > place then
    select item.created_at, item.id into near_at, near_id from public.inventory item where item.in_stock = wanted and (item.created_at, item.id) < (near_at, near_id)
    order by item.created_at desc, item.id desc offset rank - place - 1 limit 1;
  end if;
  return query select item, total from public.inventory item where item.in_stock = wanted
  and (item.created_at, item.id) <= (near_at, near_id) order by item.created_at desc, item.id desc limit greatest(least(take, place - older + 1), 0);
  -- The total is told in any case.
  if not found then return next; end if;
end $$;
--> statement-breakpoint
create function public.inventory_directory_page_by_in_stock(wanted boolean, since timestamptz, skip bigint, take integer,
  out ids uuid[], out total bigint)
language sql stable as $$
  select coalesce(array_agg((given).id order by place) filter (where (given).id is not null), '{}'),
    max(page.total)
  from public.inventory_directory_page_by_in_stock(wanted, since, skip, take, true) with ordinality page (given, total, place)
$$;
--> statement-breakpoint
create function public.inventory_directory_stamp_all(wanted text) returns bigint
language plpgsql stable parallel safe set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return (select bit_xor(mark) from (
    select mark from public.inventory_directory_shelves where filter = 'all' and value = ''
    union all
    select mark from public.inventory_directory_changes change
    where xid >= (select folded_to from public.inventory_directory_state) and true) marks);
end $$;
--> statement-breakpoint
create function public.inventory_directory_stamp_by_partner_id(wanted uuid) returns bigint
language plpgsql stable parallel safe set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return (select bit_xor(mark) from (
    select mark from public.inventory_directory_shelves where filter = 'by_partner_id' and value = wanted::text
    union all
    select mark from public.inventory_directory_changes change
    where xid >= (select folded_to from public.inventory_directory_state) and change.partner_id = wanted) marks);
end $$;
--> statement-breakpoint
create function public.inventory_directory_stamp_by_warehouse_id(wanted uuid) returns bigint
language plpgsql stable parallel safe set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return (select bit_xor(mark) from (
    select mark from public.inventory_directory_shelves where filter = 'by_warehouse_id' and value = wanted::text
    union all
    select mark from public.inventory_directory_changes change
    where xid >= (select folded_to from public.inventory_directory_state) and change.warehouse_id = wanted) marks);
end $$;
--> statement-breakpoint
create function public.inventory_directory_stamp_by_in_stock(wanted boolean) returns bigint
language plpgsql stable parallel safe set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return (select bit_xor(mark) from (
    select mark from public.inventory_directory_shelves where filter = 'by_in_stock' and value = wanted::text
    union all
    select mark from public.inventory_directory_changes change
    where xid >= (select folded_to from public.inventory_directory_state) and change.in_stock = wanted) marks);
end $$;
--> statement-breakpoint
create function public.inventory_directory_record() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into public.inventory_directory_changes (partner_id, warehouse_id, in_stock, at, id, sign, xid) select partner_id, warehouse_id, in_stock, created_at, id, 1, greatest(pg_current_xact_id(), (select folded_to from public.inventory_directory_state)) from fresh;
  elsif tg_op = 'DELETE' then
    insert into public.inventory_directory_changes (partner_id, warehouse_id, in_stock, at, id, sign, xid) select partner_id, warehouse_id, in_stock, created_at, id, -1, greatest(pg_current_xact_id(), (select folded_to from public.inventory_directory_state)) from stale;
  elsif tg_op = 'UPDATE' then
    -- A row that kept all of these cancels itself out.
    insert into public.inventory_directory_changes (partner_id, warehouse_id, in_stock, at, id, sign, xid) select partner_id, warehouse_id, in_stock, created_at, id, sum(sign), greatest(pg_current_xact_id(), (select folded_to from public.inventory_directory_state))
    from (select partner_id, warehouse_id, in_stock, created_at, id, partner_product_id, search_text, 1 as sign from fresh union all select partner_id, warehouse_id, in_stock, created_at, id, partner_product_id, search_text, -1 from stale) moved
    group by partner_id, warehouse_id, in_stock, created_at, id, partner_product_id, search_text having sum(sign) <> 0;
  else
    truncate public.inventory_directory_changes, public.inventory_directory, public.inventory_directory_shelves;
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger inventory_directory_insert after insert on public.inventory
  referencing new table as fresh for each statement execute function public.inventory_directory_record();
--> statement-breakpoint
create trigger inventory_directory_update after update on public.inventory
  referencing old table as stale new table as fresh for each statement execute function public.inventory_directory_record();
--> statement-breakpoint
create trigger inventory_directory_delete after delete on public.inventory
  referencing old table as stale for each statement execute function public.inventory_directory_record();
--> statement-breakpoint
create trigger inventory_directory_truncate after truncate on public.inventory
  for each statement execute function public.inventory_directory_record();
--> statement-breakpoint
select public.inventory_directory_rebuild();
