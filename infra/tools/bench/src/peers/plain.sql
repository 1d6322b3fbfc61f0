-- The tables of the plain service. They have the names of the services' tables, so that rows can be copied. Each list has
-- an index for its order.
create table players (player_id text primary key, balance bigint not null check (balance >= 0)) with (fillfactor = 50);
create table rounds (player_id text, round_id text, game_code text not null, opened_at timestamptz not null default now(),
  primary key (player_id, round_id));
create table entries (transaction_id text primary key, player_id text not null, round_id text not null,
  amount bigint not null, balance_after bigint not null, at timestamptz not null default now());

create table stores (id uuid primary key, token text not null unique);
create table events (store_id uuid not null references stores, digest bytea not null, id uuid not null unique,
  body jsonb not null, received_at timestamptz not null default now(), processed_at timestamptz,
  primary key (store_id, digest));
create table orders (store_id uuid not null references stores, id text, status text not null, consumer_id text,
  details jsonb not null, updated_at timestamptz not null default now(), primary key (store_id, id));

create table questions (quest_id uuid, question_id text, order_number int not null, type text not null,
  presentation text not null, titles json not null, alternatives json not null,
  primary key (quest_id, question_id), unique (quest_id, order_number));

create table tasks (owner_id uuid not null, id uuid primary key, title text not null, description text not null,
  status text not null, priority text not null, due_date date, tags text[] not null, completed_at timestamptz,
  created_at timestamptz not null, updated_at timestamptz not null, version int not null);
create index on tasks (owner_id, created_at desc, id);

create table consignments (id uuid primary key, consignment_number text not null, client_id uuid not null,
  client_name text not null, carrier_id uuid, warehouse_id uuid, status int not null, edi_status int not null,
  external_id text, reference text, created_at timestamptz not null, updated_at timestamptz not null);
create index on consignments (created_at desc, id desc);
