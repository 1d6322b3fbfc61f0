import type { SchemaPart } from '@platform/service-kit/migrate';

/** The tables of subscriptions in the database of a service, in addition to its change feed. */
export const subscriptionsPart: SchemaPart = {
  name: 'subscriptions',
  sql: `
create table subscriptions (
  id uuid primary key,
  subject text not null,
  -- The rights of its creator, in the format of the service.
  rights jsonb not null,
  url text not null,
  lists text[] not null,
  actions text[] not null,
  owners text[],
  ordering text not null,
  description text,
  contact text,
  -- The time from which a mail to the contact is due, the number of attempts, and the time of the last one.
  notice_due_at timestamptz,
  notice_attempts integer not null default 0,
  noticed_at timestamptz,
  state text not null default 'active',
  state_reason text,
  created_at timestamptz not null default now(),
  -- The number of the current secret; the previous one signs for a day after it was replaced.
  generation integer not null default 1,
  rotated_at timestamptz,
  -- Changes up to this position were delivered or are in subscription_held.
  position bigint not null,
  -- Failures since the last success, and the time of the first of them.
  failures integer not null default 0,
  failing_since timestamptz,
  last_delivered_at timestamptz,
  due_at timestamptz not null default now(),
  worker uuid,
  lease_until timestamptz not null default now()
);
create index subscriptions_by_subject on subscriptions (subject, id);
create index subscriptions_active on subscriptions (lease_until) where state = 'active';
create index subscriptions_notices on subscriptions (notice_due_at) where notice_due_at is not null and contact is not null;
-- Number of mails per day to a mailbox and for a subject; \`party\` is a keyed hash of either.
create table subscription_notices (
  party bytea not null,
  day date not null,
  mails integer not null,
  primary key (party, day)
);
-- Changes that were not delivered at the first attempt. Those of one \`lane\` are delivered one after the other; all but
-- the first of a lane are due at infinity.
create table subscription_held (
  subscription uuid not null references subscriptions on delete cascade,
  position bigint not null,
  lane text not null,
  list text not null,
  record text not null,
  action text not null,
  changed_at timestamptz not null,
  attempts integer not null,
  due_at timestamptz not null,
  -- When it failed finally; it is not retried.
  failed_at timestamptz,
  -- Number of replays that were requested while it was held.
  replays integer not null default 0,
  primary key (subscription, position)
);
create index subscription_held_lanes on subscription_held (subscription, lane, position) where failed_at is null;
create index subscription_held_due on subscription_held (subscription, due_at) where failed_at is null;
create index subscription_held_failed on subscription_held (failed_at) where failed_at is not null;
create table subscription_attempts (
  id bigint generated always as identity primary key,
  subscription uuid not null references subscriptions on delete cascade,
  sent_at timestamptz not null,
  event text not null,
  type text not null,
  record text,
  version bigint,
  attempt integer not null,
  status integer,
  ms integer not null,
  error text,
  answer text
);
create index subscription_attempts_by_subscription on subscription_attempts (subscription, id);
create index subscription_attempts_failed on subscription_attempts (subscription, id) where error is not null;
create index subscription_attempts_answers on subscription_attempts (split_part(record, '/', 1)) where answer is not null;
create index subscription_attempts_by_age on subscription_attempts using brin (sent_at);
-- Owners of erased records: the answers about them are deleted, and not stored until then (see eraseAnswers).
create table subscription_erasures (
  owner text primary key,
  until timestamptz not null
);
`,
};
