-- Creates the role that owns the tables of a service, the role of the running service, and the database.
set log_min_error_statement = panic;
create role :"owner" login password :'owner_password';
create role :"name" login password :'password';
-- Encoding and collation are the same as in the tests, regardless of the server's defaults.
create database :"name" owner :"owner" template template0
  encoding 'UTF8' locale 'C' locale_provider builtin builtin_locale 'C.UTF-8';
