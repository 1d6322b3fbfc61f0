import { oneAddress } from '@platform/mail/address';
import type { ISql } from 'postgres';
import { z } from 'zod';
import { members, users } from '../db/tables.ts';
import { createUpsert, isNewer, newOrStored } from '../db/sql.ts';
import type { Notice } from '../notifications/notice.ts';
import { releaseMails, type Customer } from '../notifications/release-mails.ts';
import type { MemberRecord } from '../providers/pos-payloads.ts';
import { profileFields } from '../providers/records.ts';
import type { ChangeOf, EventChange } from './change.ts';
import { unindexed, exactly, updatedAfter, withText } from './filters.ts';
import { declareList } from './list.ts';
import { posId, viewOf } from './view.ts';

export const memberList = declareList({
  table: members,
  latest: members.eventId,
  name: 'members',
  tag: 'Members',
  summary: 'Members, last changed first',
  view: viewOf('Member', members, 'id email firstName lastName phone status type updatedAt', {
    id: posId,
    modified: z.number().nullable(),
  }),
  show: (row) => ({ ...row, modified: row.version }),
  filters: {
    id: exactly(members.id, posId),
    status: unindexed(members.status, 'In the words of the POS'),
    updatedAfter: updatedAfter(members),
    text: withText(
      'A part of the name, the mail address or the phone number',
      "concat_ws(' ', first_name, last_name)",
      'email',
      'phone',
    ),
  },
  single: {
    name: 'member',
    key: { memberId: 'id' },
    summary: 'A member as in its webhooks',
  },
});

const upsert = createUpsert(members, { merged: { version: newOrStored }, where: isNewer });

/** Sets an email that is not exactly one address to null, because the POS no longer has the earlier one. */
export const withOneAddress = (profile: MemberRecord): MemberRecord => ({
  ...profile,
  email: profile.email && (oneAddress(profile.email) ?? null),
});

/** A customer, and whether its mail address is new. */
interface Reachable extends Customer {
  isReachable: boolean;
}

interface MemberRow extends MemberRecord {
  storeId: string;
  updatedAt: string;
}

/** SQL that sets the fields of a user that the POS has sent. It contains only names from the code. */
const sentProfile = profileFields
  .map((field) => [field, users[field].name])
  .map(
    ([field, column]) =>
      `${column} = case when doc ? '${field}' then doc ->> '${field}' else u.${column} end`,
  )
  .join(', ');

/** Refreshes the matching users. A field that the POS did not send is missing in the JSON, and the user keeps it. */
const refreshUsers = async (sql: ISql, rows: readonly MemberRow[]): Promise<Reachable[]> =>
  sql<Reachable[]>`
    update users u set
      ${sql.unsafe(sentProfile)},
      version = coalesce(m.version, u.version), refreshed_at = m.updated_at
    from (
      select doc, doc ->> 'id' as id, (doc ->> 'storeId')::uuid as store_id,
        (doc ->> 'version')::bigint as version, (doc ->> 'updatedAt')::timestamptz as updated_at
      from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) as given (doc)) as m
    where u.store_id = m.store_id and u.consumer_user_id = m.id
      and (u.version is null or m.version is null or m.version >= u.version)
    returning u.store_id as "storeId", u.consumer_user_id as "consumerUserId",
      new.email is not null and old.email is distinct from new.email as "isReachable"`;

/** Schedules one import for each member without a user; one that failed starts again. */
const addImportJobs = async (sql: ISql, rows: readonly MemberRow[]): Promise<void> => {
  if (rows.length === 0) return;
  await sql`
    insert into import_jobs (store_id, member_id, id, due_at, created_at)
    select m.store_id, m.member_id, uuidv7(), now(), now()
    from unnest(${rows.map(({ storeId }) => storeId)}::uuid[], ${rows.map(({ id }) => id)}::text[]) as m (store_id, member_id)
    where not exists (select from users u where u.store_id = m.store_id and u.consumer_user_id = m.member_id)
    on conflict (store_id, member_id) do update
      set state = 'pending', worker = null, attempts = 0, due_at = now(), error = null
      where import_jobs.state = 'failed'`;
};

/**
 * Stores members, refreshes their users if the member is newer, releases mails that wait for an address, and schedules
 * imports. Writes nothing to the POS.
 */
export const applyMembers = async (
  sql: ISql,
  changes: readonly EventChange<ChangeOf<'member'>>[],
): Promise<Notice[]> => {
  const rows = changes.map(({ change, ...source }) => ({ ...withOneAddress(change.member), ...source }));
  const applied = await sql<(Reachable & { eventId: string })[]>`
    ${upsert(sql, rows)}
    returning new.event_id as "eventId", new.store_id as "storeId", new.id as "consumerUserId",
      new.email is not null and old.email is distinct from new.email as "isReachable"`;
  const newer = new Set(applied.map(({ eventId }) => eventId));
  const refreshed = await refreshUsers(
    sql,
    rows.filter(({ eventId }) => newer.has(eventId)),
  );
  await releaseMails(
    sql,
    [...applied, ...refreshed].filter(({ isReachable }) => isReachable),
  );
  await addImportJobs(
    sql,
    rows.filter((_row, index) => changes[index]?.change.importsUnknown),
  );
  return changes.map(({ storeId, eventId, change: { member, isNew } }) => ({
    storeId,
    key: `member:${eventId}`,
    kind: 'member',
    audience: 'store',
    change: isNew ? 'created' : 'changed',
    reference: member.id,
    eventId,
  }));
};
