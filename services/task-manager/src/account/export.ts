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

/** All data stored about a user. */
export const Export = z
  .object({
    profile: User,
    sessions: z.array(Session.omit({ current: true })),
    knownNetworks: z
      .array(z.object({ network: z.string(), seenAt: instant() }))
      .meta({ description: 'Networks from which you logged in' }),
    securityEvents: z.array(SecurityEvent),
    lists: z
      .array(z.object({ listId: z.uuid(), name: z.string(), role: z.string(), invitedAt: instant() }))
      .meta({ description: 'Lists that you are a member of; read their tasks with `GET /tasks?list=`' }),
    tasks: z.array(Task).meta({ description: 'Your own tasks, without those in lists' }),
    keptAnswers: z
      .array(z.object({ answer: z.string().nullable(), createdAt: instant() }))
      .meta({ description: 'Responses of the last 24 hours, stored for their Idempotency-Key' }),
    mails: z
      .array(z.object({ kind: z.string(), recipient: z.string(), state: z.string(), createdAt: instant() }))
      .meta({ description: 'Mails to your address, and mails to others that you caused' }),
  })
  .meta({ id: 'Export' });

/** Rows in memory at a time, unless a section sets `rowsPerQuery`. */
const defaultRowsPerQuery = 100;

/** A property of the export and the table that it is read from. In `where`, `$1` is the id of the user. */
interface Section {
  table: string;
  where?: string;
  /** Column or SQL expression that identifies a row of the user; rows are read in its order. */
  key?: string;
  /** Smallest value of `key`, as SQL with its type. */
  smallestKey?: string;
  rowsPerQuery?: number;
  /** SQL for fields that are not columns of the table. */
  columns?: Record<string, string>;
}

const smallestUuid = "'00000000-0000-0000-0000-000000000000'::uuid";
const smallestText = "''::text";

const sections: Record<Exclude<keyof typeof Export.shape, 'profile'>, Section> = {
  sessions: { table: 'sessions' },
  knownNetworks: { table: 'known_networks', key: 'network', smallestKey: smallestText },
  securityEvents: {
    table: 'security_events',
    key: "concat_ws(' ', extract(epoch from day), kind, network, browser)",
    smallestKey: smallestText,
  },
  lists: {
    table: 'list_members',
    key: 'list_id',
    columns: { name: '(select name from lists where id = list_id)' },
  },
  // A task may have 66 kB, and ten downloads run at once.
  tasks: { table: 'tasks', where: 'owner_id = $1', rowsPerQuery: 20 },
  keptAnswers: {
    table: 'idempotency_keys',
    where: 'owner = $1::text',
    key: 'key',
    smallestKey: smallestText,
    // The response of a batch may have megabytes.
    rowsPerQuery: 1,
  },
  mails: {
    table: 'mails',
    where: '(sender = $1 or owner = (select md5(users.email)::uuid from users where users.id = $1))',
  },
};

/**
 * Streams all data of a user as one JSON document; each chunk is read from the database when the consumer asks for it.
 * Omits secrets and their hashes. Changes during the export may be included or not.
 */
export async function* streamExport(sql: Queries, userId: string): AsyncGenerator<string> {
  yield `{"profile":${orNotFound(await profiles.find(sql, { id: userId }, false), 'user')}`;
  for (const [
    name,
    {
      table,
      where = 'user_id = $1',
      key = 'id',
      smallestKey = smallestUuid,
      rowsPerQuery = defaultRowsPerQuery,
      columns,
    },
  ] of Object.entries(sections)) {
    const fields = Object.keys(Export.shape[name as keyof typeof sections].element.shape);
    const { json } = jsonTable(table, fields, columns);
    const readRows = (after: string | null) =>
      sql.unsafe<{ key: string; json: string }[]>(
        `select (${key})::text as key, ${json} from ${table}
         where ${where} and ${key} > coalesce($2, ${smallestKey}) order by ${key} limit ${rowsPerQuery}`,
        [userId, after],
      );
    yield `,"${name}":[`;
    let after: string | null | undefined = null;
    while (after !== undefined) {
      const lastKey = after;
      const rows: { key: string; json: string }[] = await runAsNewRequest(async () => readRows(lastKey));
      if (rows.length > 0) yield `${after === null ? '' : ','}${rows.map((row) => row.json).join(',')}`;
      after = rows.length < rowsPerQuery ? undefined : rows.at(-1)?.key;
    }
    yield ']';
  }
  yield '}\n';
}

/** Limits for concurrent downloads of a process: a slow reader occupies a place for minutes. */
const bounds: SlotLimits = {
  max: 10,
  maxPerCaller: 1,
  maxPerNetwork: 2,
  preemptible: true,
  code: 'too_many_downloads',
  detail: 'Another download is in progress; try again when it is complete.',
};
/** Longest pause of a reader, and longest duration of a download. */
const idleMs = 15_000;
const maxDownloadMs = 600_000;

/** Downloads all data of a user as a file. The file is streamed and never completely in memory. */
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
      description: `At most ten per hour, then 429. Concurrent downloads: one per user, ${bounds.maxPerNetwork} per network and ${bounds.max} per process, then 503 \`too_many_downloads\`.`,
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
      await withPlace(caller.subject, async (placeLost) => {
        await limit?.(caller.subject);
        const actor = actorOf(context, { req, caller });
        await withRecentPassword(context, actor, (tx) => recordEvent(tx, actor.userId, 'exported', actor));
        const chunks = streamExport(context.database.sql, actor.userId);
        withoutDeadline(req);
        stopCounting(req.scope);
        res.setTimeout(idleMs, () => res.destroy());
        setFixedHeaders(req, res);
        res.setHeader('Content-Type', 'application/json; charset=utf-8');
        res.setHeader('Content-Disposition', 'attachment; filename="account.json"');
        // `pipeline` adds seven listeners for `close`; Node warns from eleven.
        res.setMaxListeners(20);
        const signal = AbortSignal.any([placeLost, AbortSignal.timeout(maxDownloadMs)]);
        await pipeline(Readable.from(chunks), res, { signal });
      });
      return { status: 200, rawBody: '' };
    },
  );
};
