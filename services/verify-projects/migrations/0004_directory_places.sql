do $$ declare routine regprocedure; begin
  for routine in select oid from pg_proc where pronamespace = 'public'::regnamespace
    and proname ~ '^projects_directory_(older|place|rows|page)_'
  loop execute format('drop function %s', routine); end loop;
end $$;
--> statement-breakpoint
create function public.projects_directory_older_all(wanted text, since timestamptz) returns bigint
language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  shelf record;
  near record;
begin
  select low_at, low_id into shelf from public.projects_directory_shelves where filter = 'all' and value = '' and low_at < since
  order by low_at desc, low_id desc limit 1;
  select low_at, low_id into near from public.projects_directory where filter = 'all' and value = '' and low_at < since
  order by low_at desc, low_id desc limit 1;
  if not found then
    select * into near from (select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid) lowest (low_at, low_id);
  end if;
  return coalesce((select sum(n) from public.projects_directory_shelves
      where filter = 'all' and value = '' and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
    + coalesce((select sum(n) from public.projects_directory where filter = 'all' and value = ''
      and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near.low_at, near.low_id)), 0)
    + coalesce((select sum(sign) from public.projects_directory_changes change where xid >= (select folded_to from public.projects_directory_state)
      and true and (change.at, change.id) < (near.low_at, near.low_id)), 0)
    + (select count(*) from public.projects item where true
      and (item.updated_at, item.id) >= (near.low_at, near.low_id) and item.updated_at < since);
end $$;
--> statement-breakpoint
create function public.projects_directory_place_all(wanted text, skip bigint, totalled boolean,
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
  select sum, waits, 0::bigint, 0::bigint, 0::bigint, '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid, 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
  into pending, waiting, total, past, rank, near_at, near_id, far_at, far_id
  from (select coalesce(sum(sign), 0) as sum, count(*) > 0 as waits from public.projects_directory_changes change where xid >= (select folded_to from public.projects_directory_state) and true) change;
  for key in select low_at, low_id, n from public.projects_directory_shelves where filter = 'all' and value = '' order by low_at, low_id loop
    if total <= skip then
      near_at := key.low_at; near_id := key.low_id; rank := total; past := total;
    elsif not totalled then
      exit;
    end if;
    total := total + key.n;
  end loop;
  for key in select low_at, low_id, n from public.projects_directory
    where filter = 'all' and value = '' and (low_at, low_id) >= (near_at, near_id) order by low_at, low_id
  loop
    if past > skip then
      far_at := key.low_at; far_id := key.low_id;
      exit;
    end if;
    near_at := key.low_at; near_id := key.low_id; rank := past;
    past := past + key.n;
  end loop;
  if past - skip < skip - rank then
    near_at := far_at; near_id := far_id; rank := past;
  end if;
  if waiting then
    rank := rank + coalesce((select sum(sign) from public.projects_directory_changes change where xid >= (select folded_to from public.projects_directory_state) and true
      and (change.at, change.id) < (near_at, near_id)), 0);
  end if;
  -- The key of a bucket need not be one of a row: only upwards can the list be read from it as it is.
  if rank < skip then
    select item.updated_at, item.id into near_at, near_id from public.projects item where true and (item.updated_at, item.id) >= (near_at, near_id)
    order by item.updated_at, item.id offset skip - rank limit 1;
  elsif rank > skip then
    select item.updated_at, item.id into near_at, near_id from public.projects item where true and (item.updated_at, item.id) < (near_at, near_id)
    order by item.updated_at desc, item.id desc offset rank - skip - 1 limit 1;
  end if;
  total := total + pending;
end $$;
--> statement-breakpoint
create function public.projects_directory_rows_all(wanted text, near_at timestamptz, near_id uuid, take bigint)
returns setof public.projects language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return query select item.* from public.projects item where true
  and (item.updated_at, item.id) >= (near_at, near_id)
  order by item.updated_at, item.id limit take;
end $$;
--> statement-breakpoint
create function public.projects_directory_page_all(wanted text, since timestamptz, skip bigint, take integer,
  totalled boolean, out given public.projects, out total bigint)
returns setof record language sql stable as $$
  select item, total - before
  from (select coalesce(case when since is not null then public.projects_directory_older_all(wanted, since) end, 0)) older (before)
  cross join lateral public.projects_directory_place_all(wanted, before + skip, totalled) place
  left join lateral public.projects_directory_rows_all(wanted, near_at, near_id, take) item on true
$$;
--> statement-breakpoint
create function public.projects_directory_older_by_status(wanted text, since timestamptz) returns bigint
language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  shelf record;
  near record;
begin
  select low_at, low_id into shelf from public.projects_directory_shelves where filter = 'by_status' and value = wanted::text and low_at < since
  order by low_at desc, low_id desc limit 1;
  select low_at, low_id into near from public.projects_directory where filter = 'by_status' and value = wanted::text and low_at < since
  order by low_at desc, low_id desc limit 1;
  if not found then
    select * into near from (select '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid) lowest (low_at, low_id);
  end if;
  return coalesce((select sum(n) from public.projects_directory_shelves
      where filter = 'by_status' and value = wanted::text and (low_at, low_id) < (shelf.low_at, shelf.low_id)), 0)
    + coalesce((select sum(n) from public.projects_directory where filter = 'by_status' and value = wanted::text
      and (low_at, low_id) >= (shelf.low_at, shelf.low_id) and (low_at, low_id) < (near.low_at, near.low_id)), 0)
    + coalesce((select sum(sign) from public.projects_directory_changes change where xid >= (select folded_to from public.projects_directory_state)
      and change.status = wanted and (change.at, change.id) < (near.low_at, near.low_id)), 0)
    + (select count(*) from public.projects item where item.status = wanted
      and (item.updated_at, item.id) >= (near.low_at, near.low_id) and item.updated_at < since);
end $$;
--> statement-breakpoint
create function public.projects_directory_place_by_status(wanted text, skip bigint, totalled boolean,
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
  select sum, waits, 0::bigint, 0::bigint, 0::bigint, '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid, 'infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
  into pending, waiting, total, past, rank, near_at, near_id, far_at, far_id
  from (select coalesce(sum(sign), 0) as sum, count(*) > 0 as waits from public.projects_directory_changes change where xid >= (select folded_to from public.projects_directory_state) and change.status = wanted) change;
  for key in select low_at, low_id, n from public.projects_directory_shelves where filter = 'by_status' and value = wanted::text order by low_at, low_id loop
    if total <= skip then
      near_at := key.low_at; near_id := key.low_id; rank := total; past := total;
    elsif not totalled then
      exit;
    end if;
    total := total + key.n;
  end loop;
  for key in select low_at, low_id, n from public.projects_directory
    where filter = 'by_status' and value = wanted::text and (low_at, low_id) >= (near_at, near_id) order by low_at, low_id
  loop
    if past > skip then
      far_at := key.low_at; far_id := key.low_id;
      exit;
    end if;
    near_at := key.low_at; near_id := key.low_id; rank := past;
    past := past + key.n;
  end loop;
  if past - skip < skip - rank then
    near_at := far_at; near_id := far_id; rank := past;
  end if;
  if waiting then
    rank := rank + coalesce((select sum(sign) from public.projects_directory_changes change where xid >= (select folded_to from public.projects_directory_state) and change.status = wanted
      and (change.at, change.id) < (near_at, near_id)), 0);
  end if;
  -- The key of a bucket need not be one of a row: only upwards can the list be read from it as it is.
  if rank < skip then
    select item.updated_at, item.id into near_at, near_id from public.projects item where item.status = wanted and (item.updated_at, item.id) >= (near_at, near_id)
    order by item.updated_at, item.id offset skip - rank limit 1;
  elsif rank > skip then
    select item.updated_at, item.id into near_at, near_id from public.projects item where item.status = wanted and (item.updated_at, item.id) < (near_at, near_id)
    order by item.updated_at desc, item.id desc offset rank - skip - 1 limit 1;
  end if;
  total := total + pending;
end $$;
--> statement-breakpoint
create function public.projects_directory_rows_by_status(wanted text, near_at timestamptz, near_id uuid, take bigint)
returns setof public.projects language plpgsql stable set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return query select item.* from public.projects item where item.status = wanted
  and (item.updated_at, item.id) >= (near_at, near_id)
  order by item.updated_at, item.id limit take;
end $$;
--> statement-breakpoint
create function public.projects_directory_page_by_status(wanted text, since timestamptz, skip bigint, take integer,
  totalled boolean, out given public.projects, out total bigint)
returns setof record language sql stable as $$
  select item, total - before
  from (select coalesce(case when since is not null then public.projects_directory_older_by_status(wanted, since) end, 0)) older (before)
  cross join lateral public.projects_directory_place_by_status(wanted, before + skip, totalled) place
  left join lateral public.projects_directory_rows_by_status(wanted, near_at, near_id, take) item on true
$$;
