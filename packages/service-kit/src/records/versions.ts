import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Sql, TransactionSql } from 'postgres';
import { etagOf } from '../http/etag.ts';
import { NotFound, Problem } from '../http/problem.ts';
import { oneAtATime, type SequenceKey } from '../overload/one-at-a-time.ts';

/** Media types of a JSON merge patch (RFC 7396). */
export const mergePatchTypes = ['application/json', 'application/merge-patch+json'];

const hashOf = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22);

/**
 * A hash of a representation, which also changes when an import or a script changes the row. It is followed by a hash of the
 * `computed` fields, which no caller can change and `requireVersion` does not compare.
 */
export const versionOf = (json: string, computed: readonly string[] = []): string => {
  if (computed.length === 0) return hashOf(json);
  const fields = Object.entries(JSON.parse(json) as object);
  const [editableHash, computedHash] = [false, true].map((isComputed) =>
    hashOf(JSON.stringify(fields.filter(([name]) => computed.includes(name) === isComputed))),
  );
  return `${editableHash}~${computedHash}`;
};

/** The part of a version that changes when a caller changes the record. */
const editablePart = (version: string): string => version.split('~', 1)[0] ?? '';

/** The field `version` of a representation, followed by a hash if it has `computed` fields. */
export const versionFieldOf = (json: string, computed: readonly string[] = []): string => {
  const version = String((JSON.parse(json) as { version: unknown }).version);
  return computed.length === 0 ? version : `${version}~${hashOf(json)}`;
};

/** Clients may cache a record if they revalidate it each time; shared caches must not. */
export const privateCache = { 'Cache-Control': 'private, no-cache' };

/** For a response that contains a secret. */
export const noStore = { 'Cache-Control': 'no-store' };

/** The headers of a response with a record, or of a 304. */
export const versionHeaders = (version: string) => ({ ETag: etagOf(version), ...privateCache });

/** Descriptions of a record's headers in the OpenAPI document. `name`: the record in words. */
export const documentedHeaders = (name: string) => ({
  etag: { ETag: `The version of the ${name}` },
  ifNoneMatch: {
    'If-None-Match': `ETags of the versions you have; 304 if the ${name} still has one of them`,
  },
  ifMatch: (action: 'change' | 'delete') => ({
    'If-Match': `ETags of the versions you want to ${action}; 412 if the ${name} has another version`,
  }),
});

/** Returns the record. Throws NotFound if it is null or undefined. */
export const orNotFound = <T>(record: T | null | undefined, name: string): T => {
  if (record === null || record === undefined) throw new NotFound(name);
  return record;
};

/** Throws a Problem (412 `stale`) unless the record has one of the versions in If-Match; undefined allows any. */
export const requireVersion = (
  expected: readonly string[] | undefined,
  version: string,
  name: string,
): void => {
  if (expected?.some((other) => editablePart(other) === editablePart(version)) === false)
    throw new Problem({
      status: 412,
      code: 'stale',
      detail: `The ${name} has another version; read it again.`,
    });
};

/** A record that a request locks in order to change it. */
export interface LockTarget extends SequenceKey {
  /** The versions in If-Match. */
  expected: readonly string[] | undefined;
  version: (json: string) => string;
  /** Finds and locks the record. Returns it as JSON text. */
  find(tx: TransactionSql): Promise<string | undefined>;
}

/** Locks a record. Throws NotFound, or a Problem (412 `stale`) if it has none of the expected versions. */
export const lockExpected = async (
  tx: TransactionSql,
  { name, expected, version, find }: LockTarget,
): Promise<string> => {
  const json = orNotFound(await find(tx), name);
  // Reading the version of a long record takes a millisecond.
  if (expected !== undefined) requireVersion(expected, version(json), name);
  return json;
};

/** Locks the record and runs `work` in one transaction. Throws as `lockExpected` does. */
export const withLocked = async <T>(
  sql: Sql,
  target: LockTarget,
  work: (tx: TransactionSql, json: string) => Promise<T>,
): Promise<T> =>
  oneAtATime(sql, target, async () => {
    const result = await sql.begin(async (tx) => work(tx, await lockExpected(tx, target)));
    return result as T;
  });

/** Runs `work` in the given transaction, or in a new one if `sql` is a pool. */
export const inTransaction = async <T>(
  sql: Sql | TransactionSql,
  work: (tx: TransactionSql) => Promise<T>,
): Promise<T> => ('begin' in sql ? ((await sql.begin(work)) as T) : work(sql));

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a merge patch (RFC 7396) changes a value. Null and absent fields are equal. */
export const patchChanges = (value: object, patch: object): boolean =>
  Object.entries(patch).some(([field, patched]) => {
    const current = (value as Record<string, unknown>)[field] ?? null;
    return isObject(current) && isObject(patched)
      ? patchChanges(current, patched)
      : !isDeepStrictEqual(current, patched);
  });
