import type { Sql } from 'postgres';
import { v7 } from 'uuid';
import type { Context } from '../context.ts';
import { posSource } from '../hooks/subject.ts';
import type { MemberRecord } from '../providers/records.ts';
import { findStore } from '../stores/store.ts';
import { tellable } from '../tracker/failure.ts';
import { backoff, maxAttempts } from '../worker/backoff.ts';

interface ImportJob {
  storeId: string;
  memberId: string;
  attempts: number;
}

const claimJob = async (sql: Sql, leaseMs: number): Promise<ImportJob | undefined> => {
  const [job] = await sql<ImportJob[]>`
    update import_jobs set attempts = attempts + 1, due_at = now() + ${leaseMs} * interval '1 ms'
    where (store_id, member_id) in (
      select store_id, member_id from import_jobs where state = 'pending' and due_at <= now()
      order by due_at limit 1 for update skip locked)
    returning store_id as "storeId", member_id as "memberId", attempts`;
  return job;
};

/** The member as the POS has it, else as its webhooks told it. */
const memberOf = async (context: Context, { storeId, memberId }: ImportJob): Promise<MemberRecord> => {
  const { sql } = context.database;
  const row = await findStore(sql, storeId);
  if (row === undefined) throw new Error('the store is gone');
  const { adapter, ...source } = posSource(context.openStore(row));
  const asked =
    source.settings.baseUrl === undefined
      ? undefined
      : await adapter.readMember(memberId, { ...source, reader: context.reader }).catch(() => undefined);
  if (asked?.id === memberId) return asked;
  const [mirror] = await sql<MemberRecord[]>`
    select id, email, first_name as "firstName", last_name as "lastName", phone, status, type,
      version::float8 as version
    from members where store_id = ${storeId} and id = ${memberId}`;
  if (mirror === undefined) throw new Error('the member is gone');
  return mirror;
};

const createUser = async (sql: Sql, job: ImportJob, member: MemberRecord): Promise<void> => {
  await sql.begin(async (tx) => {
    const [user] = await tx<{ id: string }[]>`
      insert into users (store_id, id, consumer_user_id, email, first_name, last_name, phone, version,
        refreshed_at, created_at)
      values (${job.storeId}, ${v7()}, ${job.memberId}, ${member.email ?? null}, ${member.firstName ?? null},
        ${member.lastName ?? null}, ${member.phone ?? null}, ${member.version}, now(), now())
      on conflict (store_id, consumer_user_id) do update set consumer_user_id = excluded.consumer_user_id
      returning id`;
    await tx`
      update import_jobs set state = 'done', error = null, user_id = ${user?.id ?? null}, finished_at = now()
      where store_id = ${job.storeId} and member_id = ${job.memberId}`;
  });
};

/** Does one import job that is due; gives whether there was one. */
export const importOne = async (context: Context): Promise<boolean> => {
  const { database, env, tracker } = context;
  const { sql } = database;
  const job = await claimJob(sql, env.LEASE_MS);
  if (job === undefined) return false;
  try {
    await createUser(sql, job, await memberOf(context, job));
  } catch (error) {
    tracker.capture(error, { storeId: job.storeId, event: 'import', attempt: job.attempts });
    const last = job.attempts >= maxAttempts;
    await sql`
      update import_jobs set state = ${last ? 'failed' : 'pending'}, error = ${tellable(error)},
        due_at = now() + ${backoff(job.attempts, env.RETRY_BASE_MS)} * interval '1 ms'
      where store_id = ${job.storeId} and member_id = ${job.memberId}`;
  }
  return true;
};
