-- A database, the role that owns its tables and the role that the service runs as.
set log_min_error_statement = panic;
create role :"owner" login password :'owner_password';
create role :"name" login password :'password';
-- Encoding and collation as in the tests, whatever the server's are.
create database :"name" owner :"owner" template template0
  encoding 'UTF8' locale 'C' locale_provider builtin builtin_locale 'C.UTF-8';
