import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Sql, TransactionSql } from 'postgres';
import { etagOf } from '../http/etag.ts';
import { NotFound, Problem } from '../http/problem.ts';
import { oneAtATime, type Turn } from '../overload/one-at-a-time.ts';

/** Media types of a JSON merge patch (RFC 7396). */
export const mergePatchTypes = ['application/json', 'application/merge-patch+json'];

const hashOf = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22);

/**
 * A hash of a representation: it also changes when an import or a script has changed the row. A second hash follows for
 * the `computed` fields, which no caller can change: `requireVersion` does not compare it.
 */
export const versionOf = (json: string, computed: readonly string[] = []): string => {
  if (computed.length === 0) return hashOf(json);
  const fields = Object.entries(JSON.parse(json) as object);
  const [settings, rest] = [false, true].map((isComputed) =>
    hashOf(JSON.stringify(fields.filter(([name]) => computed.includes(name) === isComputed))),
  );
  return `${settings}~${rest}`;
};

/** The part of a version that changes when a caller changes the record. */
const settingsOf = (version: string): string => version.split('~', 1)[0] ?? '';

/** The field `version` of a representation; a hash follows if it has `computed` fields, as in `versionOf`. */
export const versionFieldOf = (json: string, computed: readonly string[] = []): string => {
  const version = String((JSON.parse(json) as { version: unknown }).version);
  return computed.length === 0 ? version : `${version}~${hashOf(json)}`;
};

/** A client may keep a record if it asks each time whether it has changed; a shared cache must not. */
export const ownRecord = { 'Cache-Control': 'private, no-cache' };

/** For an answer with a secret. */
export const noStore = { 'Cache-Control': 'no-store' };

/** The headers of an answer that contains a record, or says that a client has this version of it. */
export const versionHeaders = (version: string) => ({ ETag: etagOf(version), ...ownRecord });

/** What the OpenAPI document says of the headers of a record, by its name in words. */
export const documentedHeaders = (name: string) => ({
  etag: { ETag: `The version of the ${name}` },
  ifNoneMatch: { 'If-None-Match': `ETags of the versions you have; 304 when the ${name} has one of them` },
  ifMatch: (action: 'change' | 'delete') => ({
    'If-Match': `ETags of the versions you want to ${action}; 412 when the ${name} has another one`,
  }),
});

/** The record that was found. Throws NotFound where there is none. */
export const orNotFound = <T>(record: T | null | undefined, name: string): T => {
  if (record === null || record === undefined) throw new NotFound(name);
  return record;
};

/** Throws a Problem (412 `stale`) unless the record has one of the versions of If-Match; undefined allows any. */
export const requireVersion = (
  expected: readonly string[] | undefined,
  version: string,
  name: string,
): void => {
  if (expected?.some((known) => settingsOf(known) === settingsOf(version)) === false)
    throw new Problem({
      status: 412,
      code: 'stale',
      detail: `The ${name} has another version; read it again.`,
    });
};

/** A record that a request changes, and the turn in which it does. */
export interface Locked extends Turn {
  /** The versions of If-Match. */
  expected: readonly string[] | undefined;
  version: (json: string) => string;
  /** Finds the record as JSON text, and locks it. */
  find(tx: TransactionSql): Promise<string | undefined>;
}

/** Locks a record that has one of the expected versions. Throws NotFound, and a Problem (412 `stale`). */
export const lockExpected = async (
  tx: TransactionSql,
  { name, expected, version, find }: Locked,
): Promise<string> => {
  const json = orNotFound(await find(tx), name);
  requireVersion(expected, version(json), name);
  return json;
};

/** Runs `work` in a transaction in which the record is locked. Throws as `lockExpected` does. */
export const withLocked = async <T>(
  sql: Sql,
  locked: Locked,
  work: (tx: TransactionSql, json: string) => Promise<T>,
): Promise<T> =>
  oneAtATime(sql, locked, async () => {
    const result = await sql.begin(async (tx) => work(tx, await lockExpected(tx, locked)));
    return result as T;
  });

/** Runs `work` in one transaction: that of the caller where it has one. */
export const inTransaction = async <T>(
  sql: Sql | TransactionSql,
  work: (tx: TransactionSql) => Promise<T>,
): Promise<T> => ('begin' in sql ? ((await sql.begin(work)) as T) : work(sql));

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a merge patch (RFC 7396) changes a value. A field that is null and one that is absent are the same. */
export const changes = (value: object, patch: object): boolean =>
  Object.entries(patch).some(([field, changed]) => {
    const before = (value as Record<string, unknown>)[field] ?? null;
    return isObject(before) && isObject(changed)
      ? changes(before, changed)
      : !isDeepStrictEqual(before, changed);
  });
