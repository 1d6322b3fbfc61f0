-- A database, the role that owns its tables and the role that the service runs as.
set log_min_error_statement = panic;
create role :"owner" login password :'owner_password';
create role :"name" login password :'password';
create database :"name" owner :"owner";
