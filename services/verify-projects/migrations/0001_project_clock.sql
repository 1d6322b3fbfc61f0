-- Gives a change its updated_at, so that changes become visible in the order of their stamps: whoever sees
-- one stamped t sees all that were stamped before t; those stamped t itself may still come. Callers hold
-- lock (5, 1) until they end: alone when the clock goes on, together while they share a stamp. Runs as its
-- owner, because the role of the service may not set a sequence. docs/adr/0050 has the proof.
create function take_stamp() returns timestamptz
language plpgsql security definer set search_path = '' as $$
declare
  latest bigint;
  milliseconds bigint;
begin
  if not pg_catalog.pg_try_advisory_xact_lock(5, 1) then
    select last_value into latest from public.project_clock;
    milliseconds := floor(extract(epoch from pg_catalog.clock_timestamp()) * 1000);
    -- Others are writing. Share their stamp, unless it is old and it falls to us to wait until they are done.
    if milliseconds - latest < 50 or not pg_catalog.pg_try_advisory_xact_lock(5, 2) then
      perform pg_catalog.pg_advisory_xact_lock_shared(5, 1);
      select last_value into latest from public.project_clock;
      return pg_catalog.to_timestamp(latest / 1000.0);
    end if;
    perform pg_catalog.pg_advisory_xact_lock(5, 1);
  end if;
  select last_value into latest from public.project_clock;
  milliseconds := floor(extract(epoch from pg_catalog.clock_timestamp()) * 1000);
  return pg_catalog.to_timestamp(
    pg_catalog.setval('public.project_clock', greatest(milliseconds, latest)) / 1000.0);
end
$$;
