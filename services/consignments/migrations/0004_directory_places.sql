do $$ declare routine regprocedure; begin
  for routine in select oid from pg_proc where pronamespace = 'public'::regnamespace
    and proname ~ '^consignments_directory_(older|place|rows|page)_'
  loop execute format('drop function %s', routine); end loop;
end $$;
--> statement-breakpoint
create function public.consignments_directory_older_all(wanted text, since timestamptz) returns bigint
language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  shelf record;
  near record;
begin
  select low_at, low_id into shelf from public.consignments_directory_shelves where filter = 'all' and value = '' and low_at < since
  order by low_at desc, low_id desc limit 1;
  select low_at, low_id into near from public.consignments_directory where filter = 'all' and value = '' and low_at < since
  order by low_at desc, low_id desc limit 1;
  if not found then
    select * into near from (select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid) lowest (low_at, low_id);
  end if;
  return coalesce((select sum(n) from public.consignments_directory_shelves
      where filter = 'all' and value = '' and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
    + coalesce((select sum(n) from public.consignments_directory where filter = 'all' and value = ''
      and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near.low_at, near.low_id)), 0)
    + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state)
      and true and (change.at, change.id) < (near.low_at, near.low_id)), 0)
    + (select count(*) from public.consignments item where true
      and (item.created_at, item.id) >= (near.low_at, near.low_id) and item.created_at < since);
end $$;
--> statement-breakpoint
create function public.consignments_directory_place_all(wanted text, skip bigint, totalled boolean,
  out near_at timestamptz, out near_id uuid, out total bigint)
language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  pending bigint;
  waiting boolean;
  key record;
  past bigint;
  rank bigint;
  far_at timestamptz;
  far_id uuid;
begin
  select sum, waits, sum, sum, sum, 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid, '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid
  into pending, waiting, total, past, rank, near_at, near_id, far_at, far_id
  from (select coalesce(sum(sign), 0) as sum, count(*) > 0 as waits from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and true) change;
  for key in select low_at, low_id, n from public.consignments_directory_shelves where filter = 'all' and value = '' order by low_at desc, low_id desc loop
    total := total + key.n;
    if total <= skip then
      near_at := key.low_at; near_id := key.low_id; rank := total; past := total;
    elsif not totalled then
      exit;
    end if;
  end loop;
  for key in select low_at, low_id, n from public.consignments_directory
    where filter = 'all' and value = '' and (low_at, low_id) < (near_at, near_id) order by low_at desc, low_id desc
  loop
    past := past + key.n;
    if past > skip then
      far_at := key.low_at; far_id := key.low_id;
      exit;
    end if;
    near_at := key.low_at; near_id := key.low_id; rank := past;
  end loop;
  if past - skip < skip - rank then
    near_at := far_at; near_id := far_id; rank := past;
  end if;
  if waiting then
    rank := rank - pending + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and true
      and (change.at, change.id) >= (near_at, near_id)), 0);
  end if;
  -- The key of a bucket need not be one of a row: only upwards can the list be read from it as it is.
  if rank <= skip then
    select item.created_at, item.id into near_at, near_id from public.consignments item where true and (item.created_at, item.id) < (near_at, near_id)
    order by item.created_at desc, item.id desc offset skip - rank limit 1;
  elsif rank > skip then
    select item.created_at, item.id into near_at, near_id from public.consignments item where true and (item.created_at, item.id) >= (near_at, near_id)
    order by item.created_at, item.id offset rank - skip - 1 limit 1;
  end if;
end $$;
--> statement-breakpoint
create function public.consignments_directory_rows_all(wanted text, near_at timestamptz, near_id uuid, take bigint)
returns setof public.consignments language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return query select item.* from public.consignments item where true
  and (item.created_at, item.id) <= (near_at, near_id)
  order by item.created_at desc, item.id desc limit take;
end $$;
--> statement-breakpoint
create function public.consignments_directory_page_all(wanted text, since timestamptz, skip bigint, take integer,
  totalled boolean, out given public.consignments, out total bigint)
returns setof record language sql stable as $$
  select item, total - before
  from (select coalesce(case when since is not null then public.consignments_directory_older_all(wanted, since) end, 0)) older (before)
  cross join lateral public.consignments_directory_place_all(wanted, skip, true) place
  left join lateral public.consignments_directory_rows_all(wanted, near_at, near_id, greatest(least(take, total - before - skip), 0)) item on true
$$;
--> statement-breakpoint
create function public.consignments_directory_older_by_client_id(wanted uuid, since timestamptz) returns bigint
language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  shelf record;
  near record;
begin
  select low_at, low_id into shelf from public.consignments_directory_shelves where filter = 'by_client_id' and value = wanted::text and low_at < since
  order by low_at desc, low_id desc limit 1;
  select low_at, low_id into near from public.consignments_directory where filter = 'by_client_id' and value = wanted::text and low_at < since
  order by low_at desc, low_id desc limit 1;
  if not found then
    select * into near from (select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid) lowest (low_at, low_id);
  end if;
  return coalesce((select sum(n) from public.consignments_directory_shelves
      where filter = 'by_client_id' and value = wanted::text and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
    + coalesce((select sum(n) from public.consignments_directory where filter = 'by_client_id' and value = wanted::text
      and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near.low_at, near.low_id)), 0)
    + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state)
      and change.client_id = wanted and (change.at, change.id) < (near.low_at, near.low_id)), 0)
    + (select count(*) from public.consignments item where item.client_id = wanted
      and (item.created_at, item.id) >= (near.low_at, near.low_id) and item.created_at < since);
end $$;
--> statement-breakpoint
create function public.consignments_directory_place_by_client_id(wanted uuid, skip bigint, totalled boolean,
  out near_at timestamptz, out near_id uuid, out total bigint)
language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  pending bigint;
  waiting boolean;
  key record;
  past bigint;
  rank bigint;
  far_at timestamptz;
  far_id uuid;
begin
  select sum, waits, sum, sum, sum, 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid, '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid
  into pending, waiting, total, past, rank, near_at, near_id, far_at, far_id
  from (select coalesce(sum(sign), 0) as sum, count(*) > 0 as waits from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.client_id = wanted) change;
  for key in select low_at, low_id, n from public.consignments_directory_shelves where filter = 'by_client_id' and value = wanted::text order by low_at desc, low_id desc loop
    total := total + key.n;
    if total <= skip then
      near_at := key.low_at; near_id := key.low_id; rank := total; past := total;
    elsif not totalled then
      exit;
    end if;
  end loop;
  for key in select low_at, low_id, n from public.consignments_directory
    where filter = 'by_client_id' and value = wanted::text and (low_at, low_id) < (near_at, near_id) order by low_at desc, low_id desc
  loop
    past := past + key.n;
    if past > skip then
      far_at := key.low_at; far_id := key.low_id;
      exit;
    end if;
    near_at := key.low_at; near_id := key.low_id; rank := past;
  end loop;
  if past - skip < skip - rank then
    near_at := far_at; near_id := far_id; rank := past;
  end if;
  if waiting then
    rank := rank - pending + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.client_id = wanted
      and (change.at, change.id) >= (near_at, near_id)), 0);
  end if;
  -- The key of a bucket need not be one of a row: only upwards can the list be read from it as it is.
  if rank <= skip then
    select item.created_at, item.id into near_at, near_id from public.consignments item where item.client_id = wanted and (item.created_at, item.id) < (near_at, near_id)
    order by item.created_at desc, item.id desc offset skip - rank limit 1;
  elsif rank > skip then
    select item.created_at, item.id into near_at, near_id from public.consignments item where item.client_id = wanted and (item.created_at, item.id) >= (near_at, near_id)
    order by item.created_at, item.id offset rank - skip - 1 limit 1;
  end if;
end $$;
--> statement-breakpoint
create function public.consignments_directory_rows_by_client_id(wanted uuid, near_at timestamptz, near_id uuid, take bigint)
returns setof public.consignments language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return query select item.* from public.consignments item where item.client_id = wanted
  and (item.created_at, item.id) <= (near_at, near_id)
  order by item.created_at desc, item.id desc limit take;
end $$;
--> statement-breakpoint
create function public.consignments_directory_page_by_client_id(wanted uuid, since timestamptz, skip bigint, take integer,
  totalled boolean, out given public.consignments, out total bigint)
returns setof record language sql stable as $$
  select item, total - before
  from (select coalesce(case when since is not null then public.consignments_directory_older_by_client_id(wanted, since) end, 0)) older (before)
  cross join lateral public.consignments_directory_place_by_client_id(wanted, skip, true) place
  left join lateral public.consignments_directory_rows_by_client_id(wanted, near_at, near_id, greatest(least(take, total - before - skip), 0)) item on true
$$;
--> statement-breakpoint
create function public.consignments_directory_older_by_warehouse_id(wanted uuid, since timestamptz) returns bigint
language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  shelf record;
  near record;
begin
  select low_at, low_id into shelf from public.consignments_directory_shelves where filter = 'by_warehouse_id' and value = wanted::text and low_at < since
  order by low_at desc, low_id desc limit 1;
  select low_at, low_id into near from public.consignments_directory where filter = 'by_warehouse_id' and value = wanted::text and low_at < since
  order by low_at desc, low_id desc limit 1;
  if not found then
    select * into near from (select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid) lowest (low_at, low_id);
  end if;
  return coalesce((select sum(n) from public.consignments_directory_shelves
      where filter = 'by_warehouse_id' and value = wanted::text and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
    + coalesce((select sum(n) from public.consignments_directory where filter = 'by_warehouse_id' and value = wanted::text
      and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near.low_at, near.low_id)), 0)
    + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state)
      and change.warehouse_id = wanted and (change.at, change.id) < (near.low_at, near.low_id)), 0)
    + (select count(*) from public.consignments item where item.warehouse_id = wanted
      and (item.created_at, item.id) >= (near.low_at, near.low_id) and item.created_at < since);
end $$;
--> statement-breakpoint
create function public.consignments_directory_place_by_warehouse_id(wanted uuid, skip bigint, totalled boolean,
  out near_at timestamptz, out near_id uuid, out total bigint)
language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  pending bigint;
  waiting boolean;
  key record;
  past bigint;
  rank bigint;
  far_at timestamptz;
  far_id uuid;
begin
  select sum, waits, sum, sum, sum, 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid, '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid
  into pending, waiting, total, past, rank, near_at, near_id, far_at, far_id
  from (select coalesce(sum(sign), 0) as sum, count(*) > 0 as waits from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.warehouse_id = wanted) change;
  for key in select low_at, low_id, n from public.consignments_directory_shelves where filter = 'by_warehouse_id' and value = wanted::text order by low_at desc, low_id desc loop
    total := total + key.n;
    if total <= skip then
      near_at := key.low_at; near_id := key.low_id; rank := total; past := total;
    elsif not totalled then
      exit;
    end if;
  end loop;
  for key in select low_at, low_id, n from public.consignments_directory
    where filter = 'by_warehouse_id' and value = wanted::text and (low_at, low_id) < (near_at, near_id) order by low_at desc, low_id desc
  loop
    past := past + key.n;
    if past > skip then
      far_at := key.low_at; far_id := key.low_id;
      exit;
    end if;
    near_at := key.low_at; near_id := key.low_id; rank := past;
  end loop;
  if past - skip < skip - rank then
    near_at := far_at; near_id := far_id; rank := past;
  end if;
  if waiting then
    rank := rank - pending + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.warehouse_id = wanted
      and (change.at, change.id) >= (near_at, near_id)), 0);
  end if;
  -- The key of a bucket need not be one of a row: only upwards can the list be read from it as it is.
  if rank <= skip then
    select item.created_at, item.id into near_at, near_id from public.consignments item where item.warehouse_id = wanted and (item.created_at, item.id) < (near_at, near_id)
    order by item.created_at desc, item.id desc offset skip - rank limit 1;
  elsif rank > skip then
    select item.created_at, item.id into near_at, near_id from public.consignments item where item.warehouse_id = wanted and (item.created_at, item.id) >= (near_at, near_id)
    order by item.created_at, item.id offset rank - skip - 1 limit 1;
  end if;
end $$;
--> statement-breakpoint
create function public.consignments_directory_rows_by_warehouse_id(wanted uuid, near_at timestamptz, near_id uuid, take bigint)
returns setof public.consignments language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return query select item.* from public.consignments item where item.warehouse_id = wanted
  and (item.created_at, item.id) <= (near_at, near_id)
  order by item.created_at desc, item.id desc limit take;
end $$;
--> statement-breakpoint
create function public.consignments_directory_page_by_warehouse_id(wanted uuid, since timestamptz, skip bigint, take integer,
  totalled boolean, out given public.consignments, out total bigint)
returns setof record language sql stable as $$
  select item, total - before
  from (select coalesce(case when since is not null then public.consignments_directory_older_by_warehouse_id(wanted, since) end, 0)) older (before)
  cross join lateral public.consignments_directory_place_by_warehouse_id(wanted, skip, true) place
  left join lateral public.consignments_directory_rows_by_warehouse_id(wanted, near_at, near_id, greatest(least(take, total - before - skip), 0)) item on true
$$;
--> statement-breakpoint
create function public.consignments_directory_older_by_carrier_id(wanted uuid, since timestamptz) returns bigint
language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  shelf record;
  near record;
begin
  select low_at, low_id into shelf from public.consignments_directory_shelves where filter = 'by_carrier_id' and value = wanted::text and low_at < since
  order by low_at desc, low_id desc limit 1;
  select low_at, low_id into near from public.consignments_directory where filter = 'by_carrier_id' and value = wanted::text and low_at < since
  order by low_at desc, low_id desc limit 1;
  if not found then
    select * into near from (select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid) lowest (low_at, low_id);
  end if;
  return coalesce((select sum(n) from public.consignments_directory_shelves
      where filter = 'by_carrier_id' and value = wanted::text and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
    + coalesce((select sum(n) from public.consignments_directory where filter = 'by_carrier_id' and value = wanted::text
      and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near.low_at, near.low_id)), 0)
    + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state)
      and change.carrier_id = wanted and (change.at, change.id) < (near.low_at, near.low_id)), 0)
    + (select count(*) from public.consignments item where item.carrier_id = wanted
      and (item.created_at, item.id) >= (near.low_at, near.low_id) and item.created_at < since);
end $$;
--> statement-breakpoint
create function public.consignments_directory_place_by_carrier_id(wanted uuid, skip bigint, totalled boolean,
  out near_at timestamptz, out near_id uuid, out total bigint)
language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  pending bigint;
  waiting boolean;
  key record;
  past bigint;
  rank bigint;
  far_at timestamptz;
  far_id uuid;
begin
  select sum, waits, sum, sum, sum, 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid, '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid
  into pending, waiting, total, past, rank, near_at, near_id, far_at, far_id
  from (select coalesce(sum(sign), 0) as sum, count(*) > 0 as waits from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.carrier_id = wanted) change;
  for key in select low_at, low_id, n from public.consignments_directory_shelves where filter = 'by_carrier_id' and value = wanted::text order by low_at desc, low_id desc loop
    total := total + key.n;
    if total <= skip then
      near_at := key.low_at; near_id := key.low_id; rank := total; past := total;
    elsif not totalled then
      exit;
    end if;
  end loop;
  for key in select low_at, low_id, n from public.consignments_directory
    where filter = 'by_carrier_id' and value = wanted::text and (low_at, low_id) < (near_at, near_id) order by low_at desc, low_id desc
  loop
    past := past + key.n;
    if past > skip then
      far_at := key.low_at; far_id := key.low_id;
      exit;
    end if;
    near_at := key.low_at; near_id := key.low_id; rank := past;
  end loop;
  if past - skip < skip - rank then
    near_at := far_at; near_id := far_id; rank := past;
  end if;
  if waiting then
    rank := rank - pending + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.carrier_id = wanted
      and (change.at, change.id) >= (near_at, near_id)), 0);
  end if;
  -- The key of a bucket need not be one of a row: only upwards can the list be read from it as it is.
  if rank <= skip then
    select item.created_at, item.id into near_at, near_id from public.consignments item where item.carrier_id = wanted and (item.created_at, item.id) < (near_at, near_id)
    order by item.created_at desc, item.id desc offset skip - rank limit 1;
  elsif rank > skip then
    select item.created_at, item.id into near_at, near_id from public.consignments item where item.carrier_id = wanted and (item.created_at, item.id) >= (near_at, near_id)
    order by item.created_at, item.id offset rank - skip - 1 limit 1;
  end if;
end $$;
--> statement-breakpoint
create function public.consignments_directory_rows_by_carrier_id(wanted uuid, near_at timestamptz, near_id uuid, take bigint)
returns setof public.consignments language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return query select item.* from public.consignments item where item.carrier_id = wanted
  and (item.created_at, item.id) <= (near_at, near_id)
  order by item.created_at desc, item.id desc limit take;
end $$;
--> statement-breakpoint
create function public.consignments_directory_page_by_carrier_id(wanted uuid, since timestamptz, skip bigint, take integer,
  totalled boolean, out given public.consignments, out total bigint)
returns setof record language sql stable as $$
  select item, total - before
  from (select coalesce(case when since is not null then public.consignments_directory_older_by_carrier_id(wanted, since) end, 0)) older (before)
  cross join lateral public.consignments_directory_place_by_carrier_id(wanted, skip, true) place
  left join lateral public.consignments_directory_rows_by_carrier_id(wanted, near_at, near_id, greatest(least(take, total - before - skip), 0)) item on true
$$;
--> statement-breakpoint
create function public.consignments_directory_older_by_status(wanted integer, since timestamptz) returns bigint
language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  shelf record;
  near record;
begin
  select low_at, low_id into shelf from public.consignments_directory_shelves where filter = 'by_status' and value = wanted::text and low_at < since
  order by low_at desc, low_id desc limit 1;
  select low_at, low_id into near from public.consignments_directory where filter = 'by_status' and value = wanted::text and low_at < since
  order by low_at desc, low_id desc limit 1;
  if not found then
    select * into near from (select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid) lowest (low_at, low_id);
  end if;
  return coalesce((select sum(n) from public.consignments_directory_shelves
      where filter = 'by_status' and value = wanted::text and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
    + coalesce((select sum(n) from public.consignments_directory where filter = 'by_status' and value = wanted::text
      and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near.low_at, near.low_id)), 0)
    + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state)
      and change.status = wanted and (change.at, change.id) < (near.low_at, near.low_id)), 0)
    + (select count(*) from public.consignments item where item.status = wanted
      and (item.created_at, item.id) >= (near.low_at, near.low_id) and item.created_at < since);
end $$;
--> statement-breakpoint
create function public.consignments_directory_place_by_status(wanted integer, skip bigint, totalled boolean,
  out near_at timestamptz, out near_id uuid, out total bigint)
language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  pending bigint;
  waiting boolean;
  key record;
  past bigint;
  rank bigint;
  far_at timestamptz;
  far_id uuid;
begin
  select sum, waits, sum, sum, sum, 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid, '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid
  into pending, waiting, total, past, rank, near_at, near_id, far_at, far_id
  from (select coalesce(sum(sign), 0) as sum, count(*) > 0 as waits from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.status = wanted) change;
  for key in select low_at, low_id, n from public.consignments_directory_shelves where filter = 'by_status' and value = wanted::text order by low_at desc, low_id desc loop
    total := total + key.n;
    if total <= skip then
      near_at := key.low_at; near_id := key.low_id; rank := total; past := total;
    elsif not totalled then
      exit;
    end if;
  end loop;
  for key in select low_at, low_id, n from public.consignments_directory
    where filter = 'by_status' and value = wanted::text and (low_at, low_id) < (near_at, near_id) order by low_at desc, low_id desc
  loop
    past := past + key.n;
    if past > skip then
      far_at := key.low_at; far_id := key.low_id;
      exit;
    end if;
    near_at := key.low_at; near_id := key.low_id; rank := past;
  end loop;
  if past - skip < skip - rank then
    near_at := far_at; near_id := far_id; rank := past;
  end if;
  if waiting then
    rank := rank - pending + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.status = wanted
      and (change.at, change.id) >= (near_at, near_id)), 0);
  end if;
  -- The key of a bucket need not be one of a row: only upwards can the list be read from it as it is.
  if rank <= skip then
    select item.created_at, item.id into near_at, near_id from public.consignments item where item.status = wanted and (item.created_at, item.id) < (near_at, near_id)
    order by item.created_at desc, item.id desc offset skip - rank limit 1;
  elsif rank > skip then
    select item.created_at, item.id into near_at, near_id from public.consignments item where item.status = wanted and (item.created_at, item.id) >= (near_at, near_id)
    order by item.created_at, item.id offset rank - skip - 1 limit 1;
  end if;
end $$;
--> statement-breakpoint
create function public.consignments_directory_rows_by_status(wanted integer, near_at timestamptz, near_id uuid, take bigint)
returns setof public.consignments language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return query select item.* from public.consignments item where item.status = wanted
  and (item.created_at, item.id) <= (near_at, near_id)
  order by item.created_at desc, item.id desc limit take;
end $$;
--> statement-breakpoint
create function public.consignments_directory_page_by_status(wanted integer, since timestamptz, skip bigint, take integer,
  totalled boolean, out given public.consignments, out total bigint)
returns setof record language sql stable as $$
  select item, total - before
  from (select coalesce(case when since is not null then public.consignments_directory_older_by_status(wanted, since) end, 0)) older (before)
  cross join lateral public.consignments_directory_place_by_status(wanted, skip, true) place
  left join lateral public.consignments_directory_rows_by_status(wanted, near_at, near_id, greatest(least(take, total - before - skip), 0)) item on true
$$;
--> statement-breakpoint
create function public.consignments_directory_older_by_edi_status(wanted integer, since timestamptz) returns bigint
language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  shelf record;
  near record;
begin
  select low_at, low_id into shelf from public.consignments_directory_shelves where filter = 'by_edi_status' and value = wanted::text and low_at < since
  order by low_at desc, low_id desc limit 1;
  select low_at, low_id into near from public.consignments_directory where filter = 'by_edi_status' and value = wanted::text and low_at < since
  order by low_at desc, low_id desc limit 1;
  if not found then
    select * into near from (select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid) lowest (low_at, low_id);
  end if;
  return coalesce((select sum(n) from public.consignments_directory_shelves
      where filter = 'by_edi_status' and value = wanted::text and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
    + coalesce((select sum(n) from public.consignments_directory where filter = 'by_edi_status' and value = wanted::text
      and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near.low_at, near.low_id)), 0)
    + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state)
      and change.edi_status = wanted and (change.at, change.id) < (near.low_at, near.low_id)), 0)
    + (select count(*) from public.consignments item where item.edi_status = wanted
      and (item.created_at, item.id) >= (near.low_at, near.low_id) and item.created_at < since);
end $$;
--> statement-breakpoint
create function public.consignments_directory_place_by_edi_status(wanted integer, skip bigint, totalled boolean,
  out near_at timestamptz, out near_id uuid, out total bigint)
language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  pending bigint;
  waiting boolean;
  key record;
  past bigint;
  rank bigint;
  far_at timestamptz;
  far_id uuid;
begin
  select sum, waits, sum, sum, sum, 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid, '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid
  into pending, waiting, total, past, rank, near_at, near_id, far_at, far_id
  from (select coalesce(sum(sign), 0) as sum, count(*) > 0 as waits from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.edi_status = wanted) change;
  for key in select low_at, low_id, n from public.consignments_directory_shelves where filter = 'by_edi_status' and value = wanted::text order by low_at desc, low_id desc loop
    total := total + key.n;
    if total <= skip then
      near_at := key.low_at; near_id := key.low_id; rank := total; past := total;
    elsif not totalled then
      exit;
    end if;
  end loop;
  for key in select low_at, low_id, n from public.consignments_directory
    where filter = 'by_edi_status' and value = wanted::text and (low_at, low_id) < (near_at, near_id) order by low_at desc, low_id desc
  loop
    past := past + key.n;
    if past > skip then
      far_at := key.low_at; far_id := key.low_id;
      exit;
    end if;
    near_at := key.low_at; near_id := key.low_id; rank := past;
  end loop;
  if past - skip < skip - rank then
    near_at := far_at; near_id := far_id; rank := past;
  end if;
  if waiting then
    rank := rank - pending + coalesce((select sum(sign) from public.consignments_directory_changes change where xid >= (select folded_to from public.consignments_directory_state) and change.edi_status = wanted
      and (change.at, change.id) >= (near_at, near_id)), 0);
  end if;
  -- The key of a bucket need not be one of a row: only upwards can the list be read from it as it is.
  if rank <= skip then
    select item.created_at, item.id into near_at, near_id from public.consignments item where item.edi_status = wanted and (item.created_at, item.id) < (near_at, near_id)
    order by item.created_at desc, item.id desc offset skip - rank limit 1;
  elsif rank > skip then
    select item.created_at, item.id into near_at, near_id from public.consignments item where item.edi_status = wanted and (item.created_at, item.id) >= (near_at, near_id)
    order by item.created_at, item.id offset rank - skip - 1 limit 1;
  end if;
end $$;
--> statement-breakpoint
create function public.consignments_directory_rows_by_edi_status(wanted integer, near_at timestamptz, near_id uuid, take bigint)
returns setof public.consignments language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return query select item.* from public.consignments item where item.edi_status = wanted
  and (item.created_at, item.id) <= (near_at, near_id)
  order by item.created_at desc, item.id desc limit take;
end $$;
--> statement-breakpoint
create function public.consignments_directory_page_by_edi_status(wanted integer, since timestamptz, skip bigint, take integer,
  totalled boolean, out given public.consignments, out total bigint)
returns setof record language sql stable as $$
  select item, total - before
  from (select coalesce(case when since is not null then public.consignments_directory_older_by_edi_status(wanted, since) end, 0)) older (before)
  cross join lateral public.consignments_directory_place_by_edi_status(wanted, skip, true) place
  left join lateral public.consignments_directory_rows_by_edi_status(wanted, near_at, near_id, greatest(least(take, total - before - skip), 0)) item on true
$$;
--> statement-breakpoint
do $$ declare routine regprocedure; begin
  for routine in select oid from pg_proc where pronamespace = 'public'::regnamespace
    and proname ~ '^inventory_directory_(older|place|rows|page)_'
  loop execute format('drop function %s', routine); end loop;
end $$;
--> statement-breakpoint
create function public.inventory_directory_older_all(wanted text, since timestamptz) returns bigint
language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  shelf record;
  near record;
begin
  select low_at, low_id into shelf from public.inventory_directory_shelves where filter = 'all' and value = '' and low_at < since
  order by low_at desc, low_id desc limit 1;
  select low_at, low_id into near from public.inventory_directory where filter = 'all' and value = '' and low_at < since
  order by low_at desc, low_id desc limit 1;
  if not found then
    select * into near from (select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid) lowest (low_at, low_id);
  end if;
  return coalesce((select sum(n) from public.inventory_directory_shelves
      where filter = 'all' and value = '' and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
    + coalesce((select sum(n) from public.inventory_directory where filter = 'all' and value = ''
      and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near.low_at, near.low_id)), 0)
    + coalesce((select sum(sign) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state)
      and true and (change.at, change.id) < (near.low_at, near.low_id)), 0)
    + (select count(*) from public.inventory item where true
      and (item.created_at, item.id) >= (near.low_at, near.low_id) and item.created_at < since);
end $$;
--> statement-breakpoint
create function public.inventory_directory_place_all(wanted text, skip bigint, totalled boolean,
  out near_at timestamptz, out near_id uuid, out total bigint)
language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  pending bigint;
  waiting boolean;
  key record;
  past bigint;
  rank bigint;
  far_at timestamptz;
  far_id uuid;
begin
  select sum, waits, sum, sum, sum, 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid, '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid
  into pending, waiting, total, past, rank, near_at, near_id, far_at, far_id
  from (select coalesce(sum(sign), 0) as sum, count(*) > 0 as waits from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and true) change;
  for key in select low_at, low_id, n from public.inventory_directory_shelves where filter = 'all' and value = '' order by low_at desc, low_id desc loop
    total := total + key.n;
    if total <= skip then
      near_at := key.low_at; near_id := key.low_id; rank := total; past := total;
    elsif not totalled then
      exit;
    end if;
  end loop;
  for key in select low_at, low_id, n from public.inventory_directory
    where filter = 'all' and value = '' and (low_at, low_id) < (near_at, near_id) order by low_at desc, low_id desc
  loop
    past := past + key.n;
    if past > skip then
      far_at := key.low_at; far_id := key.low_id;
      exit;
    end if;
    near_at := key.low_at; near_id := key.low_id; rank := past;
  end loop;
  if past - skip < skip - rank then
    near_at := far_at; near_id := far_id; rank := past;
  end if;
  if waiting then
    rank := rank - pending + coalesce((select sum(sign) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and true
      and (change.at, change.id) >= (near_at, near_id)), 0);
  end if;
  -- The key of a bucket need not be one of a row: only upwards can the list be read from it as it is.
  if rank <= skip then
    select item.created_at, item.id into near_at, near_id from public.inventory item where true and (item.created_at, item.id) < (near_at, near_id)
    order by item.created_at desc, item.id desc offset skip - rank limit 1;
  elsif rank > skip then
    select item.created_at, item.id into near_at, near_id from public.inventory item where true and (item.created_at, item.id) >= (near_at, near_id)
    order by item.created_at, item.id offset rank - skip - 1 limit 1;
  end if;
end $$;
--> statement-breakpoint
create function public.inventory_directory_rows_all(wanted text, near_at timestamptz, near_id uuid, take bigint)
returns setof public.inventory language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return query select item.* from public.inventory item where true
  and (item.created_at, item.id) <= (near_at, near_id)
  order by item.created_at desc, item.id desc limit take;
end $$;
--> statement-breakpoint
create function public.inventory_directory_page_all(wanted text, since timestamptz, skip bigint, take integer,
  totalled boolean, out given public.inventory, out total bigint)
returns setof record language sql stable as $$
  select item, total - before
  from (select coalesce(case when since is not null then public.inventory_directory_older_all(wanted, since) end, 0)) older (before)
  cross join lateral public.inventory_directory_place_all(wanted, skip, true) place
  left join lateral public.inventory_directory_rows_all(wanted, near_at, near_id, greatest(least(take, total - before - skip), 0)) item on true
$$;
--> statement-breakpoint
create function public.inventory_directory_older_by_partner_id(wanted uuid, since timestamptz) returns bigint
language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  shelf record;
  near record;
begin
  select low_at, low_id into shelf from public.inventory_directory_shelves where filter = 'by_partner_id' and value = wanted::text and low_at < since
  order by low_at desc, low_id desc limit 1;
  select low_at, low_id into near from public.inventory_directory where filter = 'by_partner_id' and value = wanted::text and low_at < since
  order by low_at desc, low_id desc limit 1;
  if not found then
    select * into near from (select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid) lowest (low_at, low_id);
  end if;
  return coalesce((select sum(n) from public.inventory_directory_shelves
      where filter = 'by_partner_id' and value = wanted::text and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
    + coalesce((select sum(n) from public.inventory_directory where filter = 'by_partner_id' and value = wanted::text
      and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near.low_at, near.low_id)), 0)
    + coalesce((select sum(sign) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state)
      and change.partner_id = wanted and (change.at, change.id) < (near.low_at, near.low_id)), 0)
    + (select count(*) from public.inventory item where item.partner_id = wanted
      and (item.created_at, item.id) >= (near.low_at, near.low_id) and item.created_at < since);
end $$;
--> statement-breakpoint
create function public.inventory_directory_place_by_partner_id(wanted uuid, skip bigint, totalled boolean,
  out near_at timestamptz, out near_id uuid, out total bigint)
language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  pending bigint;
  waiting boolean;
  key record;
  past bigint;
  rank bigint;
  far_at timestamptz;
  far_id uuid;
begin
  select sum, waits, sum, sum, sum, 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid, '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid
  into pending, waiting, total, past, rank, near_at, near_id, far_at, far_id
  from (select coalesce(sum(sign), 0) as sum, count(*) > 0 as waits from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and change.partner_id = wanted) change;
  for key in select low_at, low_id, n from public.inventory_directory_shelves where filter = 'by_partner_id' and value = wanted::text order by low_at desc, low_id desc loop
    total := total + key.n;
    if total <= skip then
      near_at := key.low_at; near_id := key.low_id; rank := total; past := total;
    elsif not totalled then
      exit;
    end if;
  end loop;
  for key in select low_at, low_id, n from public.inventory_directory
    where filter = 'by_partner_id' and value = wanted::text and (low_at, low_id) < (near_at, near_id) order by low_at desc, low_id desc
  loop
    past := past + key.n;
    if past > skip then
      far_at := key.low_at; far_id := key.low_id;
      exit;
    end if;
    near_at := key.low_at; near_id := key.low_id; rank := past;
  end loop;
  if past - skip < skip - rank then
    near_at := far_at; near_id := far_id; rank := past;
  end if;
  if waiting then
    rank := rank - pending + coalesce((select sum(sign) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and change.partner_id = wanted
      and (change.at, change.id) >= (near_at, near_id)), 0);
  end if;
  -- The key of a bucket need not be one of a row: only upwards can the list be read from it as it is.
  if rank <= skip then
    select item.created_at, item.id into near_at, near_id from public.inventory item where item.partner_id = wanted and (item.created_at, item.id) < (near_at, near_id)
    order by item.created_at desc, item.id desc offset skip - rank limit 1;
  elsif rank > skip then
    select item.created_at, item.id into near_at, near_id from public.inventory item where item.partner_id = wanted and (item.created_at, item.id) >= (near_at, near_id)
    order by item.created_at, item.id offset rank - skip - 1 limit 1;
  end if;
end $$;
--> statement-breakpoint
create function public.inventory_directory_rows_by_partner_id(wanted uuid, near_at timestamptz, near_id uuid, take bigint)
returns setof public.inventory language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return query select item.* from public.inventory item where item.partner_id = wanted
  and (item.created_at, item.id) <= (near_at, near_id)
  order by item.created_at desc, item.id desc limit take;
end $$;
--> statement-breakpoint
create function public.inventory_directory_page_by_partner_id(wanted uuid, since timestamptz, skip bigint, take integer,
  totalled boolean, out given public.inventory, out total bigint)
returns setof record language sql stable as $$
  select item, total - before
  from (select coalesce(case when since is not null then public.inventory_directory_older_by_partner_id(wanted, since) end, 0)) older (before)
  cross join lateral public.inventory_directory_place_by_partner_id(wanted, skip, true) place
  left join lateral public.inventory_directory_rows_by_partner_id(wanted, near_at, near_id, greatest(least(take, total - before - skip), 0)) item on true
$$;
--> statement-breakpoint
create function public.inventory_directory_older_by_warehouse_id(wanted uuid, since timestamptz) returns bigint
language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  shelf record;
  near record;
begin
  select low_at, low_id into shelf from public.inventory_directory_shelves where filter = 'by_warehouse_id' and value = wanted::text and low_at < since
  order by low_at desc, low_id desc limit 1;
  select low_at, low_id into near from public.inventory_directory where filter = 'by_warehouse_id' and value = wanted::text and low_at < since
  order by low_at desc, low_id desc limit 1;
  if not found then
    select * into near from (select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid) lowest (low_at, low_id);
  end if;
  return coalesce((select sum(n) from public.inventory_directory_shelves
      where filter = 'by_warehouse_id' and value = wanted::text and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
    + coalesce((select sum(n) from public.inventory_directory where filter = 'by_warehouse_id' and value = wanted::text
      and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near.low_at, near.low_id)), 0)
    + coalesce((select sum(sign) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state)
      and change.warehouse_id = wanted and (change.at, change.id) < (near.low_at, near.low_id)), 0)
    + (select count(*) from public.inventory item where item.warehouse_id = wanted
      and (item.created_at, item.id) >= (near.low_at, near.low_id) and item.created_at < since);
end $$;
--> statement-breakpoint
create function public.inventory_directory_place_by_warehouse_id(wanted uuid, skip bigint, totalled boolean,
  out near_at timestamptz, out near_id uuid, out total bigint)
language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  pending bigint;
  waiting boolean;
  key record;
  past bigint;
  rank bigint;
  far_at timestamptz;
  far_id uuid;
begin
  select sum, waits, sum, sum, sum, 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid, '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid
  into pending, waiting, total, past, rank, near_at, near_id, far_at, far_id
  from (select coalesce(sum(sign), 0) as sum, count(*) > 0 as waits from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and change.warehouse_id = wanted) change;
  for key in select low_at, low_id, n from public.inventory_directory_shelves where filter = 'by_warehouse_id' and value = wanted::text order by low_at desc, low_id desc loop
    total := total + key.n;
    if total <= skip then
      near_at := key.low_at; near_id := key.low_id; rank := total; past := total;
    elsif not totalled then
      exit;
    end if;
  end loop;
  for key in select low_at, low_id, n from public.inventory_directory
    where filter = 'by_warehouse_id' and value = wanted::text and (low_at, low_id) < (near_at, near_id) order by low_at desc, low_id desc
  loop
    past := past + key.n;
    if past > skip then
      far_at := key.low_at; far_id := key.low_id;
      exit;
    end if;
    near_at := key.low_at; near_id := key.low_id; rank := past;
  end loop;
  if past - skip < skip - rank then
    near_at := far_at; near_id := far_id; rank := past;
  end if;
  if waiting then
    rank := rank - pending + coalesce((select sum(sign) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and change.warehouse_id = wanted
      and (change.at, change.id) >= (near_at, near_id)), 0);
  end if;
  -- The key of a bucket need not be one of a row: only upwards can the list be read from it as it is.
  if rank <= skip then
    select item.created_at, item.id into near_at, near_id from public.inventory item where item.warehouse_id = wanted and (item.created_at, item.id) < (near_at, near_id)
    order by item.created_at desc, item.id desc offset skip - rank limit 1;
  elsif rank > skip then
    select item.created_at, item.id into near_at, near_id from public.inventory item where item.warehouse_id = wanted and (item.created_at, item.id) >= (near_at, near_id)
    order by item.created_at, item.id offset rank - skip - 1 limit 1;
  end if;
end $$;
--> statement-breakpoint
create function public.inventory_directory_rows_by_warehouse_id(wanted uuid, near_at timestamptz, near_id uuid, take bigint)
returns setof public.inventory language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return query select item.* from public.inventory item where item.warehouse_id = wanted
  and (item.created_at, item.id) <= (near_at, near_id)
  order by item.created_at desc, item.id desc limit take;
end $$;
--> statement-breakpoint
create function public.inventory_directory_page_by_warehouse_id(wanted uuid, since timestamptz, skip bigint, take integer,
  totalled boolean, out given public.inventory, out total bigint)
returns setof record language sql stable as $$
  select item, total - before
  from (select coalesce(case when since is not null then public.inventory_directory_older_by_warehouse_id(wanted, since) end, 0)) older (before)
  cross join lateral public.inventory_directory_place_by_warehouse_id(wanted, skip, true) place
  left join lateral public.inventory_directory_rows_by_warehouse_id(wanted, near_at, near_id, greatest(least(take, total - before - skip), 0)) item on true
$$;
--> statement-breakpoint
create function public.inventory_directory_older_by_in_stock(wanted boolean, since timestamptz) returns bigint
language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  shelf record;
  near record;
begin
  select low_at, low_id into shelf from public.inventory_directory_shelves where filter = 'by_in_stock' and value = wanted::text and low_at < since
  order by low_at desc, low_id desc limit 1;
  select low_at, low_id into near from public.inventory_directory where filter = 'by_in_stock' and value = wanted::text and low_at < since
  order by low_at desc, low_id desc limit 1;
  if not found then
    select * into near from (select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid) lowest (low_at, low_id);
  end if;
  return coalesce((select sum(n) from public.inventory_directory_shelves
      where filter = 'by_in_stock' and value = wanted::text and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
    + coalesce((select sum(n) from public.inventory_directory where filter = 'by_in_stock' and value = wanted::text
      and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near.low_at, near.low_id)), 0)
    + coalesce((select sum(sign) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state)
      and change.in_stock = wanted and (change.at, change.id) < (near.low_at, near.low_id)), 0)
    + (select count(*) from public.inventory item where item.in_stock = wanted
      and (item.created_at, item.id) >= (near.low_at, near.low_id) and item.created_at < since);
end $$;
--> statement-breakpoint
create function public.inventory_directory_place_by_in_stock(wanted boolean, skip bigint, totalled boolean,
  out near_at timestamptz, out near_id uuid, out total bigint)
language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  pending bigint;
  waiting boolean;
  key record;
  past bigint;
  rank bigint;
  far_at timestamptz;
  far_id uuid;
begin
  select sum, waits, sum, sum, sum, 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid, '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid
  into pending, waiting, total, past, rank, near_at, near_id, far_at, far_id
  from (select coalesce(sum(sign), 0) as sum, count(*) > 0 as waits from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and change.in_stock = wanted) change;
  for key in select low_at, low_id, n from public.inventory_directory_shelves where filter = 'by_in_stock' and value = wanted::text order by low_at desc, low_id desc loop
    total := total + key.n;
    if total <= skip then
      near_at := key.low_at; near_id := key.low_id; rank := total; past := total;
    elsif not totalled then
      exit;
    end if;
  end loop;
  for key in select low_at, low_id, n from public.inventory_directory
    where filter = 'by_in_stock' and value = wanted::text and (low_at, low_id) < (near_at, near_id) order by low_at desc, low_id desc
  loop
    past := past + key.n;
    if past > skip then
      far_at := key.low_at; far_id := key.low_id;
      exit;
    end if;
    near_at := key.low_at; near_id := key.low_id; rank := past;
  end loop;
  if past - skip < skip - rank then
    near_at := far_at; near_id := far_id; rank := past;
  end if;
  if waiting then
    rank := rank - pending + coalesce((select sum(sign) from public.inventory_directory_changes change where xid >= (select folded_to from public.inventory_directory_state) and change.in_stock = wanted
      and (change.at, change.id) >= (near_at, near_id)), 0);
  end if;
  -- The key of a bucket need not be one of a row: only upwards can the list be read from it as it is.
  if rank <= skip then
    select item.created_at, item.id into near_at, near_id from public.inventory item where item.in_stock = wanted and (item.created_at, item.id) < (near_at, near_id)
    order by item.created_at desc, item.id desc offset skip - rank limit 1;
  elsif rank > skip then
    select item.created_at, item.id into near_at, near_id from public.inventory item where item.in_stock = wanted and (item.created_at, item.id) >= (near_at, near_id)
    order by item.created_at, item.id offset rank - skip - 1 limit 1;
  end if;
end $$;
--> statement-breakpoint
create function public.inventory_directory_rows_by_in_stock(wanted boolean, near_at timestamptz, near_id uuid, take bigint)
returns setof public.inventory language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return query select item.* from public.inventory item where item.in_stock = wanted
  and (item.created_at, item.id) <= (near_at, near_id)
  order by item.created_at desc, item.id desc limit take;
end $$;
--> statement-breakpoint
create function public.inventory_directory_page_by_in_stock(wanted boolean, since timestamptz, skip bigint, take integer,
  totalled boolean, out given public.inventory, out total bigint)
returns setof record language sql stable as $$
  select item, total - before
  from (select coalesce(case when since is not null then public.inventory_directory_older_by_in_stock(wanted, since) end, 0)) older (before)
  cross join lateral public.inventory_directory_place_by_in_stock(wanted, skip, true) place
  left join lateral public.inventory_directory_rows_by_in_stock(wanted, near_at, near_id, greatest(least(take, total - before - skip), 0)) item on true
$$;
