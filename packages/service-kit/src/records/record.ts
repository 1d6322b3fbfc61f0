import { hash } from 'node:crypto';
import type { Sql, TransactionSql } from 'postgres';
import { z } from 'zod';
import { etagOf, expectedVersions, isNotModified } from '../http/etag.ts';
import { NotFound, Problem } from '../http/problem.ts';
import { route, type Guard, type Route } from '../http/route.ts';
import { idempotencyKeyHeader, idempotencyKeyOf, once } from './idempotency.ts';

/** A connection of the pool, or the transaction of the request. */
export type Queries = Sql | TransactionSql;

/** A record as JSON text, and its id. */
export interface Stored {
  id: string;
  json: string;
}

/** What a service says and does of one kind of record; the rest is the same for all (`record`). */
export interface RecordSpec<
  Query extends z.ZodObject,
  Input extends z.ZodType,
  Patch extends z.ZodType,
  Caller,
> {
  /** Path of the list, such as `/inventory`; its word is the tag of the operations. */
  path: string;
  /** The base path of the service. */
  basePath: string;
  /** One record in words, such as `inventory item`, from which the ids of the operations are made. */
  name: string;
  /** `order` completes the summary of the list operation: `Partners, ` and for example `newest first`. */
  list: { order: string; description?: string; anyCaseQuery?: boolean; body: z.ZodType };
  /** A field `version`, where it has one, is the ETag; else a hash of the record. */
  schema: z.ZodObject;
  query: Query;
  input: Input;
  patch: Patch;
  /** The id of a record of the demo data, a new record and a change. */
  examples: { id: string; input: z.input<NoInfer<Input>>; patch: z.input<NoInfer<Patch>> };
  read: Guard<Caller>;
  /** Idempotency keys belong to the subject. */
  write: Guard<Caller & { subject: string }>;
  sql: Sql;
  /** For the document: when a record cannot be deleted (409). Undefined where it always can. */
  inUse?: string;

  // Each gets the caller, for records that are not the same for all; someone else's record is undefined.

  /** The body of one page as JSON text. */
  page(query: z.output<Query>, caller: Caller): Promise<string>;
  /** The record as JSON text. `lock` locks its row until the transaction ends. */
  find(sql: Queries, id: string, caller: Caller, lock: boolean): Promise<string | undefined>;
  create(sql: Queries, input: z.output<Input>, caller: Caller): Promise<Stored>;
  /** Changes a record that was found and locked. Undefined, and nothing is written, when that changes nothing. */
  save(sql: Queries, id: string, patch: z.output<Patch>, caller: Caller): Promise<string | undefined>;
  /** Deletes a record that was found and locked; throws a Problem where it must stay. */
  remove(sql: Queries, id: string, caller: Caller): Promise<void>;
}

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** Media types of a JSON merge patch (RFC 7396). */
const patchTypes = ['application/json', 'application/merge-patch+json'];

/** A client may keep a record if it asks each time whether it has changed; a shared cache must not. */
const own = { 'Cache-Control': 'private, no-cache' };

/** It also changes when an import or a script has changed the row. */
const hashOf = (json: string): string => hash('sha256', json, 'base64url').slice(0, 22);

const versionFieldOf = (json: string): string => String((JSON.parse(json) as { version: unknown }).version);

/** Path of a record, whose id is a UUID; the example is the id of one in the demo data. */
const pathOf = (example: string) =>
  z.strictObject({
    id: z.guid('must be a UUID').toLowerCase().meta({ description: 'Identifier of the record', example }),
  });

/**
 * The five operations of a record that callers create, change and delete: list, create, read, patch and delete, with
 * ETag, If-None-Match, If-Match, Idempotency-Key, and their descriptions. Source: docs/architecture.md (Records).
 */
export const record = <
  Query extends z.ZodObject,
  Input extends z.ZodType<object>,
  Patch extends z.ZodType<object>,
  Caller,
>(
  spec: RecordSpec<Query, Input, Patch, Caller>,
): Route[] => {
  const { path, name, schema, examples, read, write, sql, list, inUse } = spec;
  const { input, patch }: { input: z.ZodType<object>; patch: z.ZodType<object> } = spec;
  const tag = capitalised(path.slice(1));
  const noun = name.split(' ').map(capitalised).join('');
  const one = `${path}/{id}`;
  const params = pathOf(examples.id);
  const etag = { ETag: `The version of the ${name}` };
  const ifMatch = (what: string) => ({
    'If-Match': `ETags of the versions you want to ${what}; 412 when the ${name} has another one`,
  });
  const versionOf = 'version' in schema.shape ? versionFieldOf : hashOf;
  const headersOf = (json: string) => ({ ETag: etagOf(versionOf(json)), ...own });

  const found = (json: string | undefined): string => {
    if (json === undefined) throw new NotFound(name);
    return json;
  };
  /** Locks the record, checks its version against If-Match, and runs `work` in the same transaction. */
  const withLock = async <T>(
    id: string,
    caller: Caller,
    expected: readonly string[] | undefined,
    work: (tx: TransactionSql, json: string) => Promise<T>,
  ): Promise<T> =>
    (await sql.begin(async (tx) => {
      const json = found(await spec.find(tx, id, caller, true));
      if (expected?.includes(versionOf(json)) === false)
        throw new Problem({
          status: 412,
          code: 'stale',
          detail: `The ${name} has another version; read it again.`,
        });
      return work(tx, json);
    })) as T;

  return [
    route(
      {
        method: 'get',
        path,
        operationId: `list${noun}s`,
        tag,
        summary: `${tag}, ${list.order}`,
        ...(list.description !== undefined && { description: list.description }),
        ...(list.anyCaseQuery !== undefined && { anyCaseQuery: list.anyCaseQuery }),
        auth: read,
        query: spec.query,
        responses: { 200: { description: 'One page; empty past the end', body: list.body } },
      },
      async ({ caller, query }) => ({
        status: 200,
        rawBody: await spec.page(query as z.output<Query>, caller),
      }),
    ),
    route(
      {
        method: 'post',
        path,
        operationId: `create${noun}`,
        tag,
        summary: `Create a ${name}`,
        auth: write,
        headers: idempotencyKeyHeader,
        body: { schema: input, example: examples.input as object },
        responses: {
          201: {
            description: `The new ${name}`,
            body: schema,
            headers: { ...etag, Location: `Address of the ${name}` },
          },
        },
        problems: [422],
      },
      async ({ caller, body, req }) => {
        const key = idempotencyKeyOf(req);
        const create = (on: Queries): Promise<Stored> => spec.create(on, body as z.output<Input>, caller);
        const { id, json } =
          key === undefined
            ? await create(sql)
            : await once(sql, { owner: caller.subject, key, request: { path, body } }, create);
        const headers = { ...headersOf(json), Location: `${spec.basePath}${path}/${id}` };
        return { status: 201, headers, rawBody: json };
      },
    ),
    route(
      {
        method: 'get',
        path: one,
        operationId: `get${noun}`,
        tag,
        summary: `One ${name}`,
        auth: read,
        params,
        headers: { 'If-None-Match': `ETags of the versions you have; 304 when the ${name} has one of them` },
        responses: {
          200: { description: `The ${name}`, body: schema, headers: etag },
          304: { description: 'You have this version', headers: etag },
        },
        problems: [404],
      },
      async ({ caller, params: { id }, req }) => {
        const json = found(await spec.find(sql, id, caller, false));
        const headers = headersOf(json);
        return isNotModified(req, versionOf(json))
          ? { status: 304, headers }
          : { status: 200, headers, rawBody: json };
      },
    ),
    route(
      {
        method: 'patch',
        path: one,
        operationId: `change${noun}`,
        tag,
        summary: `Change some fields of a ${name}`,
        description:
          'A JSON merge patch (RFC 7396): absent fields keep their values, null clears a field. What changes nothing writes nothing.',
        auth: write,
        params,
        headers: ifMatch('change'),
        body: { schema: patch, example: examples.patch as object, types: patchTypes },
        responses: { 200: { description: `The ${name}`, body: schema, headers: etag } },
        problems: [404, 412],
      },
      async ({ caller, params: { id }, body, req }) => {
        const isEmpty = Object.keys(body).length === 0;
        const json = await withLock(id, caller, expectedVersions(req), async (tx, current) =>
          isEmpty ? current : ((await spec.save(tx, id, body as z.output<Patch>, caller)) ?? current),
        );
        return { status: 200, headers: headersOf(json), rawBody: json };
      },
    ),
    route(
      {
        method: 'delete',
        path: one,
        operationId: `delete${noun}`,
        tag,
        summary: `Delete a ${name}`,
        ...(inUse !== undefined && { description: inUse }),
        auth: write,
        params,
        headers: ifMatch('delete'),
        responses: { 204: { description: `The ${name} is deleted` } },
        problems: [404, ...(inUse === undefined ? [] : [409]), 412],
      },
      async ({ caller, params: { id }, req }) => {
        await withLock(id, caller, expectedVersions(req), (tx) => spec.remove(tx, id, caller));
        return { status: 204, headers: own };
      },
    ),
  ];
};
