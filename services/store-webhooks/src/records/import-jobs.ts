import {
  createLeasedWork,
  type LeasedRow,
  type LeaseOptions,
  type Leases,
} from '@platform/service-kit/leased-work';
import type { ISql } from 'postgres';
import { v7 } from 'uuid';
import type { Context } from '../context.ts';
import { importJobs } from '../db/tables.ts';
import { posOf } from '../stores/known-store.ts';
import { releaseMails } from '../notifications/release.ts';
import type { MemberRecord } from '../providers/records.ts';
import { knownStore } from '../stores/use-cases.ts';
import { Stopped, Unprocessable } from '../errors.ts';
import { declareList, exactly } from './list.ts';
import { withOneAddress } from './members.ts';
import { posId, viewOf } from './view.ts';

export const importJobList = declareList({
  table: importJobs,
  latest: importJobs.id,
  name: 'importJobs',
  tag: 'Members',
  summary: 'Imports of members as users, newest first',
  view: viewOf('ImportJob', importJobs, 'id memberId state attempts error userId createdAt finishedAt'),
  filters: { memberId: exactly(importJobs.memberId, posId) },
});

interface StoredMember extends MemberRecord {
  eventId: string;
}

/** The member as its webhooks described it. `lock` makes later webhooks about it wait for the transaction. */
const storedMember = async (
  sql: ISql,
  { owner: storeId, key }: LeasedRow,
  lock = false,
): Promise<StoredMember> => {
  const [member] = await sql<StoredMember[]>`
    select id, email, first_name as "firstName", last_name as "lastName", phone, status, type,
      version::float8 as version, event_id as "eventId"
    from members where store_id = ${storeId} and id = ${key} ${lock ? sql`for update` : sql``}`;
  if (member === undefined) throw new Unprocessable('The member does not exist any more.');
  return member;
};

/** The member as the POS has it now; undefined if it cannot be asked. */
const askPos = async (context: Context, { owner: storeId, key }: LeasedRow) => {
  const { adapter, ...provider } = posOf(await knownStore(context, storeId));
  if (provider.settings.baseUrl === undefined) return undefined;
  const asked = adapter.readMember(key, { ...provider, reader: context.reader });
  const member = await asked.catch((error: unknown) => {
    if (error instanceof Stopped) throw error;
    return undefined;
  });
  return member?.id === key ? withOneAddress(member) : undefined;
};

/** Puts the fields of the newer profile over those of the older one. */
const merged = (older: MemberRecord, newer: MemberRecord): MemberRecord => {
  const known = Object.entries(newer).filter(([, value]) => value != null);
  return { ...older, ...Object.fromEntries(known) };
};

/**
 * The answer of the POS may be older than a webhook that was applied in the meantime. The higher
 * version is the newer one; without versions, a webhook since `before` is.
 */
const newest = (
  asked: MemberRecord | undefined,
  stored: StoredMember,
  before: StoredMember,
): MemberRecord => {
  if (asked === undefined) return stored;
  const storedIsNewer =
    asked.version !== null && stored.version !== null
      ? stored.version > asked.version
      : stored.eventId !== before.eventId;
  return storedIsNewer ? merged(asked, stored) : merged(stored, asked);
};

const importMember = async (context: Context, job: LeasedRow): Promise<void> => {
  const { sql } = context.database;
  const before = await storedMember(sql, job);
  const asked = await askPos(context, job);
  await sql.begin(async (tx) => {
    const member = newest(asked, await storedMember(tx, job, true), before);
    const [user] = await tx<{ id: string; email: string | null }[]>`
      insert into users (store_id, id, consumer_user_id, email, first_name, last_name, phone, version,
        refreshed_at, created_at)
      values (${job.owner}, ${v7()}, ${job.key}, ${member.email ?? null}, ${member.firstName ?? null},
        ${member.lastName ?? null}, ${member.phone ?? null}, ${member.version}, now(), now())
      on conflict (store_id, consumer_user_id) do update set consumer_user_id = excluded.consumer_user_id
      returning id, email`;
    if (user?.email != null) await releaseMails(tx, [{ storeId: job.owner, consumerUserId: job.key }]);
    await tx`
      update import_jobs set state = 'done', worker = null, error = null, user_id = ${user?.id ?? null}, finished_at = now()
      where store_id = ${job.owner} and member_id = ${job.key}`;
  });
};

/** Imports that wait for a POS need no connection to the database; the reader limits the requests to each POS. */
const limits = [32, 4] as const;

/** Imports the members whose jobs are due. */
export const createImporter = (context: Context, leases: LeaseOptions): Leases =>
  createLeasedWork({
    ...leases,
    table: 'import_jobs',
    owner: 'store_id',
    key: 'member_id',
    state: 'state',
    limits,
    perform: (job) => importMember(context, job),
  });
