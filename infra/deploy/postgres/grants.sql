-- Nobody but the two roles may even connect; what the owner creates later is open to the running role by itself.
revoke all on database :"name" from public;
grant connect on database :"name" to :"name";
revoke all on schema public from public;
grant usage on schema public to :"name";
alter default privileges for role :"owner" grant usage on schemas to :"name";
alter default privileges for role :"owner" grant select, insert, update, delete on tables to :"name";
alter default privileges for role :"owner" grant usage, select on sequences to :"name";
alter default privileges for role :"owner" revoke execute on functions from public;
alter default privileges for role :"owner" grant execute on functions to :"name";
