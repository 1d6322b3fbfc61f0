import { createHash, createHmac, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import type { Sql, TransactionSql } from 'postgres';
import { Conflict, Problem, Unavailable, ValidationFailed } from '../http/problem.ts';
import { isStorable } from '../http/text.ts';
import { oneAtATime } from '../overload/one-at-a-time.ts';
import { isoColumn } from '../database/columns.ts';
import type { Prunable } from '../background/pruning.ts';

/** The table that `withIdempotencyKey` uses, for the schema of a service. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    /** Who sent the key: keys of two callers are independent. */
    owner: text().notNull(),
    /** SHA-256 in hex of the key, which is the secret of `requestHash`. */
    key: text().notNull(),
    /** HMAC-SHA256 in hex of the first request: it may have secrets, and a copy of the table must not confirm guesses. */
    requestHash: text('request_hash').notNull(),
    /** The answer to it as JSON; null only inside the transaction that does the work. */
    answer: text(),
    createdAt: isoColumn('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.owner, table.key] }),
    index('idempotency_keys_by_age').on(table.createdAt),
  ],
);

/** Keys after their 24 hours, which `withIdempotencyKey` takes for new ones. */
export const outdatedKeys: Prunable = {
  table: 'idempotency_keys',
  outdated: "created_at < now() - interval '24 hours'",
};

/** What the OpenAPI document says of the header. */
export const idempotencyKeyHeader = {
  'Idempotency-Key':
    'Up to 128 characters. For 24 hours, the same key with the same body gets the first answer, and with another body 422.',
};

/** The same where the answer contains a secret. */
export const secretIdempotencyKeyHeader = {
  'Idempotency-Key':
    'Up to 128 characters. The first answer contains a secret and is not kept: for 24 hours, the same key with the same body gets 409, which names what the first request created, and with another body 422.',
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
  /** Undefined: the request has no Idempotency-Key. */
  key: string | undefined;
  /** What was asked for; compared with that of the first request by its JSON. */
  request: unknown;
  /** Called before an answer of so many bytes is kept; throws a Problem to refuse it, which undoes the work. */
  keep?: ((owner: string, bytes: number) => Promise<void>) | undefined;
}

type Keyed = Repeatable & { key: string };

/** What is stored of a key and its request. */
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
      const kept = JSON.stringify(answer);
      await keep?.(owner, Buffer.byteLength(kept));
      await tx`update idempotency_keys set answer = ${kept} where owner = ${owner} and key = ${key}`;
      return answer;
    }
    const [first] = await tx<{ requestHash: string; answer: string }[]>`
      select request_hash as "requestHash", answer from idempotency_keys where owner = ${owner} and key = ${key}`;
    // The key was deleted in between, because it became a day old.
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
 * Does `work` once for each key of an owner, in one transaction with its answer, which the key remembers for a day as
 * JSON. A repeat gets the first answer, and waits for it while the first request is running. Throws a Problem (422,
 * `idempotency_key_reused`) for the same key with another request. Without a key it just does the work in a transaction.
 * Source: docs/architecture.md (Records).
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
 * As `withIdempotencyKey`, for an answer with a secret, which is never kept: a repeat is a Conflict, `idempotency_key_used`, which names
 * what the first request created. `addressOf` makes that name of the answer.
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
  // Not what an attempt created that was rolled back: its secret does not work, also where the address is the same.
  if (created?.attempt !== attempt)
    throw new Conflict(
      'idempotency_key_used',
      `The first request with this Idempotency-Key created ${address}; its answer contained a secret, so it was not kept.`,
    );
  return created.answer;
};
