import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setFixedHeaders } from '@platform/service-kit/respond';
import { jsonTable } from '@platform/service-kit/json-table';
import { createFairSlots, type SlotLimits } from '@platform/service-kit/fair-slots';
import { runAsNewRequest } from '@platform/service-kit/queue-turns';
import type { Queries } from '@platform/service-kit/record';
import { orNotFound } from '@platform/service-kit/record-versions';
import { stopCounting, withoutDeadline } from '@platform/service-kit/request-scope';
import { route, type Route } from '@platform/service-kit/route';
import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { createKeyLimit } from '../auth/address-limit.ts';
import { User } from '../auth/schema.ts';
import { profiles } from '../auth/use-cases.ts';
import type { Context } from '../context.ts';
import { recordEvent, SecurityEvent } from '../security/events.ts';
import { actorOf } from '../sessions/client.ts';
import { Session } from '../sessions/schema.ts';
import { Task } from '../tasks/schema.ts';
import { withRecentPassword } from './use-cases.ts';

/** What is stored about a user. */
export const Export = z
  .object({
    profile: User,
    sessions: z.array(Session.omit({ current: true })),
    knownNetworks: z
      .array(z.object({ network: z.string(), seenAt: instant() }))
      .meta({ description: 'From which you have logged in' }),
    securityEvents: z.array(SecurityEvent),
    lists: z
      .array(z.object({ listId: z.uuid(), name: z.string(), role: z.string(), invitedAt: instant() }))
      .meta({ description: 'That you are a member of; their tasks are read with `GET /tasks?list=`' }),
    tasks: z.array(Task).meta({ description: 'Your own' }),
    keptAnswers: z
      .array(z.object({ answer: z.string().nullable(), createdAt: instant() }))
      .meta({ description: 'Of the last 24 hours, for their Idempotency-Keys' }),
    mails: z
      .array(z.object({ kind: z.string(), recipient: z.string(), state: z.string(), createdAt: instant() }))
      .meta({ description: 'To your address, and those that you caused' }),
  })
  .meta({ id: 'Export' });

/** Rows that are in memory at a time, unless a part says otherwise; a task may have 60 kB. */
const usualRows = 100;

/** Where the rows of a user are; `$1` is the user. */
interface Part {
  table: string;
  where?: string;
  /** The column, or SQL, that identifies a row of the user, and the type and the least value of it. */
  key?: string;
  least?: string;
  atOnce?: number;
  columns?: Record<string, string>;
}

const leastUuid = "'00000000-0000-0000-0000-000000000000'::uuid";
const leastText = "''::text";

const parts: Record<Exclude<keyof typeof Export.shape, 'profile'>, Part> = {
  sessions: { table: 'sessions' },
  knownNetworks: { table: 'known_networks', key: 'network', least: leastText },
  securityEvents: {
    table: 'security_events',
    key: "concat_ws(' ', extract(epoch from day), kind, network, browser)",
    least: leastText,
  },
  lists: {
    table: 'list_members',
    key: 'list_id',
    columns: { name: '(select name from lists where id = list_id)' },
  },
  tasks: { table: 'tasks', where: 'owner_id = $1' },
  keptAnswers: {
    table: 'idempotency_keys',
    where: 'owner = $1::text',
    key: 'key',
    least: leastText,
    // That of a batch may have megabytes.
    atOnce: 1,
  },
  mails: {
    table: 'mails',
    where: '(sender = $1 or owner = (select md5(users.email)::uuid from users where users.id = $1))',
  },
};

/**
 * Everything that is stored about a user, as one JSON file in pieces that are read when they are taken. Secrets and their
 * hashes are left out. What changes meanwhile may be there or not.
 */
export async function* exportOf(sql: Queries, userId: string): AsyncGenerator<string> {
  yield `{"profile":${orNotFound(await profiles.find(sql, { id: userId }, false), 'user')}`;
  for (const [
    name,
    { table, where = 'user_id = $1', key = 'id', least = leastUuid, atOnce = usualRows, columns },
  ] of Object.entries(parts)) {
    const fields = Object.keys(Export.shape[name as keyof typeof parts].element.shape);
    const { json } = jsonTable(table, fields, columns);
    const read = (after: string | null) =>
      sql.unsafe<{ key: string; json: string }[]>(
        `select (${key})::text as key, ${json} from ${table}
         where ${where} and ${key} > coalesce($2, ${least}) order by ${key} limit ${atOnce}`,
        [userId, after],
      );
    yield `,"${name}":[`;
    let after: string | null | undefined = null;
    while (after !== undefined) {
      const last = after;
      const rows: { key: string; json: string }[] = await runAsNewRequest(async () => read(last));
      if (rows.length > 0) yield `${after === null ? '' : ','}${rows.map((row) => row.json).join(',')}`;
      after = rows.length < atOnce ? undefined : rows.at(-1)?.key;
    }
    yield ']';
  }
  yield '}\n';
}

/** Downloads of a process at a time: a slow reader takes a place for minutes. */
const bounds: SlotLimits = {
  max: 10,
  maxPerCaller: 1,
  maxPerNetwork: 2,
  preemptible: true,
  code: 'too_many_downloads',
  detail: 'Another file is being downloaded; try again when it is there.',
};
/** A reader may pause for as long, and take as long altogether. */
const idleMs = 15_000;
const longestMs = 600_000;

/** Everything about a user as a file, which is written as fast as it is read: it is never in memory as a whole. */
export const exportRoute = (context: Context): Route => {
  const { tokens, env, redis } = context;
  const withPlace = createFairSlots(bounds);
  const limit =
    env.RATE_LIMIT === 'on'
      ? createKeyLimit({ redis, prefix: 'task-manager:exports', points: 10, seconds: 3600 })
      : undefined;
  return route(
    {
      method: 'get',
      path: '/auth/me/export',
      operationId: 'exportAccount',
      tag: 'Account',
      summary: 'Everything about you, as a file',
      description: `Ten in an hour, then 429. One at a time, ${bounds.maxPerNetwork} of a network and ${bounds.max} of all users in a process, then 503 \`too_many_downloads\`.`,
      auth: tokens.guard(),
      responses: {
        200: {
          description: 'The file',
          body: Export,
          headers: { 'Content-Disposition': 'The name of the file' },
        },
      },
      problems: [403],
    },
    async ({ req, res, caller }) => {
      await withPlace(caller.subject, async (lost) => {
        await limit?.(caller.subject);
        const actor = actorOf(context, { req, caller });
        await withRecentPassword(context, actor, (tx) => recordEvent(tx, actor.userId, 'exported', actor));
        const pieces = exportOf(context.database.sql, actor.userId);
        withoutDeadline(req);
        stopCounting(req.scope);
        res.setTimeout(idleMs, () => res.destroy());
        setFixedHeaders(req, res);
        res.setHeader('Content-Type', 'application/json; charset=utf-8');
        res.setHeader('Content-Disposition', 'attachment; filename="account.json"');
        // `pipeline` alone adds seven listeners for `close`.
        res.setMaxListeners(20);
        const signal = AbortSignal.any([lost, AbortSignal.timeout(longestMs)]);
        await pipeline(Readable.from(pieces), res, { signal });
      });
      return { status: 200, rawBody: '' };
    },
  );
};
