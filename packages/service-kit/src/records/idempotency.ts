import { createHash, createHmac, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import type { Sql, TransactionSql } from 'postgres';
import { Conflict, Problem, Unavailable, ValidationFailed } from '../http/problem.ts';
import { isStorable } from '../http/text.ts';
import { oneAtATime } from '../overload/one-at-a-time.ts';
import { isoColumn } from '../database/columns.ts';
import type { Prunable } from '../background/pruning.ts';

/** The table of `withIdempotencyKey`, for the database schema of a service. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    /** The caller. Keys of different callers are independent. */
    owner: text().notNull(),
    /** SHA-256 in hex of the key, which is the secret of `requestHash`. */
    key: text().notNull(),
    /** HMAC-SHA256 in hex of the first request. Keyed, because requests may contain secrets that a plain hash would let guess. */
    requestHash: text('request_hash').notNull(),
    /** The first response as JSON; null only inside the transaction that does the work. */
    answer: text(),
    createdAt: isoColumn('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.owner, table.key] }),
    index('idempotency_keys_by_age').on(table.createdAt),
  ],
);

/** Expired keys (24 hours). `withIdempotencyKey` treats them as new keys. */
export const outdatedKeys: Prunable = {
  table: 'idempotency_keys',
  outdated: "created_at < now() - interval '24 hours'",
};

/** Description of the header in the OpenAPI document. */
export const idempotencyKeyHeader = {
  'Idempotency-Key':
    'Up to 128 characters. For 24 hours, the same key with the same body gets the first response, and with another body 422.',
};

/** The description if the response contains a secret. */
export const secretIdempotencyKeyHeader = {
  'Idempotency-Key':
    'Up to 128 characters. The first response contains a secret and is not stored: for 24 hours, the same key with the same body gets 409, which names what the first request created, and with another body 422.',
};

/** The Idempotency-Key of a request. Throws ValidationFailed unless it has 1 to 128 characters. */
export const idempotencyKeyOf = ({ headers }: IncomingMessage): string | undefined => {
  const key = headers['idempotency-key'];
  if (key !== undefined && (typeof key !== 'string' || key === '' || key.length > 128 || !isStorable(key)))
    throw new ValidationFailed({ 'Idempotency-Key': ['must be 1 to 128 characters'] });
  return key;
};

/** A request that a caller may repeat. */
export interface Repeatable {
  owner: string;
  /** Undefined if the request has no Idempotency-Key. */
  key: string | undefined;
  /** The content of the request. Its JSON is compared with that of the first request. */
  request: unknown;
  /** Called before a response is stored, with its size. May throw a Problem, which rolls the work back. */
  keep?: ((owner: string, bytes: number) => Promise<void>) | undefined;
}

type Keyed = Repeatable & { key: string };

/** The hashes that are stored for a key and its request. */
const hashesOf = ({ key, request }: Keyed) => ({
  key: createHash('sha256').update(key).digest('hex'),
  requestHash: createHmac('sha256', key).update(JSON.stringify(request)).digest('hex'),
});

const claimOrRepeat = async <Answer>(
  sql: Sql,
  keyed: Keyed,
  work: (tx: TransactionSql) => Promise<Answer>,
): Promise<Answer> =>
  (await sql.begin(async (tx) => {
    const { owner, keep } = keyed;
    const { key, requestHash } = hashesOf(keyed);
    // Waits for a concurrent transaction that claims the same key.
    const { count } = await tx`
      insert into idempotency_keys (owner, key, request_hash, created_at)
      values (${owner}, ${key}, ${requestHash}, now())
      on conflict (owner, key) do update set request_hash = excluded.request_hash, answer = null, created_at = now()
        where idempotency_keys.created_at < now() - interval '24 hours'`;
    if (count === 1) {
      const answer = await work(tx);
      const json = JSON.stringify(answer);
      await keep?.(owner, Buffer.byteLength(json));
      await tx`update idempotency_keys set answer = ${json} where owner = ${owner} and key = ${key}`;
      return answer;
    }
    const [first] = await tx<{ requestHash: string; answer: string }[]>`
      select request_hash as "requestHash", answer from idempotency_keys where owner = ${owner} and key = ${key}`;
    // The key expired and was deleted in between.
    if (first === undefined) throw new Unavailable('write_conflict', 'Try again.', undefined, 1);
    if (first.requestHash !== requestHash)
      throw new Problem({
        status: 422,
        code: 'idempotency_key_reused',
        detail: 'This Idempotency-Key was sent before with another request.',
      });
    return JSON.parse(first.answer) as Answer;
  })) as Answer;

/**
 * Runs `work` once for each key of an owner, and stores its result as JSON in the same transaction. For 24 hours a repeated
 * request gets the stored result; while the first request is running, it waits. Throws a Problem (422,
 * `idempotency_key_reused`) for the same key with another request. Without a key it only runs `work` in a transaction. Source:
 * docs/architecture.md (Records).
 */
export const withIdempotencyKey = async <Answer>(
  sql: Sql,
  { key, ...repeatable }: Repeatable,
  work: (tx: TransactionSql) => Promise<Answer>,
): Promise<Answer> =>
  key === undefined
    ? ((await sql.begin(work)) as Answer)
    : oneAtATime(sql, { name: 'Idempotency-Key', params: { key }, caller: repeatable.owner }, () =>
        claimOrRepeat(sql, { key, ...repeatable }, work),
      );

/**
 * Like `withIdempotencyKey`, but for a result that contains a secret, which is never stored. A repeated request throws a Conflict
 * (`idempotency_key_used`) that names what the first request created. `addressOf` returns the address of the created record.
 */
export const withSecretIdempotencyKey = async <Answer>(
  sql: Sql,
  repeatable: Repeatable,
  work: (tx: TransactionSql) => Promise<Answer>,
  addressOf: (answer: Answer) => string,
): Promise<Answer> => {
  let created: { answer: Answer; attempt: string } | undefined;
  const { address, attempt } = await withIdempotencyKey(sql, repeatable, async (tx) => {
    created = { answer: await work(tx), attempt: randomUUID() };
    return { address: addressOf(created.answer), attempt: created.attempt };
  });
  // The attempts are compared and not the addresses, because a rolled back attempt may have had the same address.
  if (created?.attempt !== attempt)
    throw new Conflict(
      'idempotency_key_used',
      `The first request with this Idempotency-Key created ${address}; its answer contained a secret, so it was not kept.`,
    );
  return created.answer;
};
