import { ormOf, type Executor } from '@platform/service-kit/db';
import {
  createLeasedWork,
  type LeasedRow,
  type LeaseOptions,
  type Leases,
} from '@platform/service-kit/leased-work';
import { and, eq, sql as expression } from 'drizzle-orm';
import { v7 } from 'uuid';
import type { Context } from '../context.ts';
import { importJobs, members, users } from '../db/tables.ts';
import { posOf } from '../stores/known-store.ts';
import { releaseMails } from '../notifications/release-mails.ts';
import { fieldsOf } from '../providers/payload-parsing.ts';
import type { MemberRecord } from '../providers/pos-payloads.ts';
import { profileFields } from '../providers/records.ts';
import { knownStore } from '../stores/use-cases.ts';
import { Stopped, Unprocessable } from '../errors.ts';
import { exactly } from './filters.ts';
import { declareList } from './list.ts';
import { withOneAddress } from './members.ts';
import { posId, viewOf } from './view.ts';

export const importJobList = declareList({
  table: importJobs,
  latest: importJobs.id,
  name: 'importJobs',
  tag: 'Members',
  summary: 'Imports of members, newest first',
  view: viewOf('ImportJob', importJobs, 'id memberId state attempts error userId createdAt finishedAt'),
  filters: { memberId: exactly(importJobs.memberId, posId) },
});

type StoredMember = typeof members.$inferSelect;

/** The member from its webhooks. `lock` makes later webhooks about it wait for the transaction. */
const storedMember = async (
  db: Executor,
  { owner: storeId, key }: LeasedRow,
  lock = false,
): Promise<StoredMember> => {
  const query = db
    .select()
    .from(members)
    .where(and(eq(members.storeId, storeId), eq(members.id, key)));
  const [member] = await (lock ? query.for('update') : query);
  if (member === undefined) throw new Unprocessable('The member no longer exists.');
  return member;
};

/** Reads the current member from the POS. Returns undefined if the POS has no address, no answer or another member. */
const readFromPos = async (context: Context, { owner: storeId, key }: LeasedRow) => {
  const store = await knownStore(context, storeId);
  if (store.deletedAt !== null) throw new Unprocessable('The store is deleted.');
  const { adapter, ...provider } = posOf(store);
  if (provider.settings.baseUrl === undefined) return undefined;
  const answer = adapter.readMember(key, { ...provider, reader: context.readerOf(storeId) });
  const member = await answer.catch((error: unknown) => {
    if (error instanceof Stopped) throw error;
    return undefined;
  });
  return member?.id === key ? withOneAddress(member) : undefined;
};

/**
 * Merges the answer of the POS and the stored member; fields of the newer one count. The answer may be older than a webhook
 * that was applied meanwhile: the higher version is newer; without versions, the member is if it has changed since `before`.
 */
const mergeMember = (
  fromPos: MemberRecord | undefined,
  stored: StoredMember,
  before: StoredMember,
): MemberRecord => {
  if (fromPos === undefined) return stored;
  const storedIsNewer =
    fromPos.version !== null && stored.version !== null
      ? stored.version > fromPos.version
      : stored.eventId !== before.eventId;
  const [older, newer] = storedIsNewer ? [fromPos, stored] : [stored, fromPos];
  const newerFields = Object.entries(newer).filter(([, value]) => value != null);
  return { ...older, ...Object.fromEntries(newerFields) };
};

const importMember = async (context: Context, job: LeasedRow): Promise<void> => {
  const { sql, orm } = context.database;
  const { owner: storeId, key: consumerUserId } = job;
  const before = await storedMember(orm, job);
  const fromPos = await readFromPos(context, job);
  await sql.begin(async (tx) => {
    const db = ormOf(tx, context.database);
    const { version, ...member } = mergeMember(fromPos, await storedMember(db, job, true), before);
    const now = expression`now()`;
    const [user] = await db
      .insert(users)
      .values({
        ...fieldsOf(profileFields, (name) => member[name]),
        storeId,
        id: v7(),
        consumerUserId,
        version,
        refreshedAt: now,
        createdAt: now,
      })
      // Changes nothing, but also returns a user that exists already.
      .onConflictDoUpdate({ target: [users.storeId, users.consumerUserId], set: { consumerUserId } })
      .returning();
    if (user?.email != null) await releaseMails(tx, [user]);
    await tx`
      update import_jobs set state = 'done', worker = null, error = null, user_id = ${user?.id ?? null}, finished_at = now()
      where store_id = ${storeId} and member_id = ${consumerUserId}`;
  });
};

/** Imports the members whose jobs are due. */
export const createImporter = (context: Context, leases: LeaseOptions): Leases =>
  createLeasedWork({
    ...leases,
    table: 'import_jobs',
    owner: 'store_id',
    key: 'member_id',
    state: 'state',
    // Most imports wait for a POS, without a database connection.
    limits: [32, 4],
    perform: (job) => importMember(context, job),
  });
