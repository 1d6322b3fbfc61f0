import { v7 } from 'uuid';
import { isNewer } from '../worker/newer.ts';
import type { ISql } from 'postgres';
import { commaSeparated } from '../db/sql.ts';
import { withOneAddress } from '../notifications/email-address.ts';
import type { ChangeOf, Notice, Sourced } from '../worker/change.ts';

type MemberChange = Sourced<ChangeOf<'member'>>;

const rowsOf = (changes: readonly MemberChange[]) =>
  changes.map(({ storeId, eventId, receivedAt, change: { member: given, importsUnknown } }) => {
    const member = withOneAddress(given);
    return {
      store_id: storeId,
      id: member.id,
      email: member.email,
      first_name: member.firstName,
      last_name: member.lastName,
      phone: member.phone,
      // The fields that the POS sent; the others stay as they are.
      sent: Object.entries(member).flatMap(([name, value]) => (value === undefined ? [] : [name])),
      status: member.status,
      type: member.type,
      version: member.version,
      event_id: eventId,
      updated_at: receivedAt,
      imports: importsUnknown,
      job_id: v7(),
    };
  });

const fields = [
  ['email', 'email'],
  ['first_name', 'firstName'],
  ['last_name', 'lastName'],
  ['phone', 'phone'],
] as const;

/**
 * Stores members, refreshes the matching users with what the POS sent, and schedules one import for each
 * member without a user. Nothing is written to the POS.
 */
export const applyMembers = async (sql: ISql, changes: readonly MemberChange[]): Promise<Notice[]> => {
  const rows = JSON.stringify(rowsOf(changes));
  const given = sql`jsonb_to_recordset(${rows}::jsonb) as m (store_id uuid, id text, email text,
    first_name text, last_name text, phone text, sent jsonb, version bigint,
    updated_at timestamptz, imports boolean, job_id uuid)`;
  const taken = fields.map(
    ([column, name]) =>
      sql`${sql(column)} = case when m.sent ? ${name} then m.${sql(column)} else u.${sql(column)} end`,
  );
  const applied = await sql<{ storeId: string; id: string }[]>`
    insert into members as o select * from jsonb_populate_recordset(null::members, ${rows}::jsonb)
    on conflict (store_id, id) do update set email = excluded.email, first_name = excluded.first_name,
      last_name = excluded.last_name, phone = excluded.phone, status = excluded.status,
      type = excluded.type, version = coalesce(excluded.version, o.version),
      event_id = excluded.event_id, updated_at = excluded.updated_at
    where ${isNewer(sql, 'o')}
    returning store_id as "storeId", id`;
  const newer = applied.map(({ storeId, id }) => `${storeId}/${id}`);
  await sql`
    update users u set ${commaSeparated(sql, taken)}, version = coalesce(m.version, u.version),
      refreshed_at = m.updated_at
    from ${given}
    where u.store_id = m.store_id and u.consumer_user_id = m.id
      and m.store_id || '/' || m.id = any(${newer}::text[])
      and (u.version is null or m.version is null or m.version >= u.version)`;
  await sql`
    insert into import_jobs (store_id, member_id, id, due_at, created_at)
    select m.store_id, m.id, m.job_id, now(), now() from ${given}
    where m.imports and not exists (
      select from users u where u.store_id = m.store_id and u.consumer_user_id = m.id)
    on conflict (store_id, member_id) do nothing`;
  return changes.map(({ storeId, eventId, change: { member, isNew } }) => ({
    storeId,
    key: `member:${eventId}`,
    kind: 'member',
    audience: 'store',
    subject: isNew ? 'A member was created' : 'A member changed',
    reference: member.id,
    consumerId: null,
    eventId,
  }));
};
