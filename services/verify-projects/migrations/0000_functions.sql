-- An instant as the wire has it: UTC, milliseconds. Immutable, which to_char as such is not: formats that name
-- months depend on settings.
create function wire_instant(at timestamptz) returns text language sql immutable parallel safe as $$
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;
--> statement-breakpoint
-- A project and a deliverable as JSON text. Immutable, so that the tables may keep what they give.
create function project_wire(
  id uuid, name text, status text, source_language text, target_languages text[], created_at timestamptz,
  updated_at timestamptz
) returns text language sql immutable parallel safe as $$
  select to_json(project)::text from (
    select id, name, status, source_language, target_languages,
      public.wire_instant(created_at) as created_at, public.wire_instant(updated_at) as updated_at) project
$$;
--> statement-breakpoint
create function deliverable_wire(
  project_id uuid, id uuid, language text, type text, status text, due_at timestamptz, updated_at timestamptz
) returns text language sql immutable parallel safe as $$
  select to_json(deliverable)::text from (
    select id, project_id, language, type, status,
      public.wire_instant(due_at) as due_at, public.wire_instant(updated_at) as updated_at) deliverable
$$;
--> statement-breakpoint
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
