-- Rights inside one database. `start`, compose and docs/deploy.md use this file.
-- Only the two roles may connect. The runtime role reads and writes rows; only the owner changes tables.
revoke all on database :"name" from public;
grant connect on database :"name" to :"name";
revoke all on schema public from public;
-- For people who use psql; services set their schema themselves (DATABASE_SCHEMA).
alter database :"name" set search_path = :"name", extensions;
alter default privileges for role :"owner" grant usage on schemas to :"name";
alter default privileges for role :"owner" grant select, insert, update, delete on tables to :"name";
alter default privileges for role :"owner" grant usage, select on sequences to :"name";
alter default privileges for role :"owner" revoke execute on functions from public;
alter default privileges for role :"owner" grant execute on functions to :"name";
-- Large objects belong to no table, so no grant above limits them. Only a superuser may change rights on these functions.
do $$
declare large_object_function regprocedure;
begin
  if not (select rolsuper from pg_roles where rolname = current_user) then
    raise notice 'not a superuser: every role can still create large objects in this database';
    return;
  end if;
  for large_object_function in
    select oid from pg_proc
    where pronamespace = 'pg_catalog'::regnamespace and (proname like 'lo\_%' or proname in ('loread', 'lowrite'))
  loop
    execute format('revoke execute on function %s from public', large_object_function);
  end loop;
end
$$;
