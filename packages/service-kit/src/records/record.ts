import { z } from 'zod';
import { expectedVersions, isNotModified } from '../http/etag.ts';
import { route, type Route } from '../http/route.ts';
import { idempotencyKeyHeader, idempotencyKeyOf, withIdempotencyKey } from './idempotency.ts';
import type { Queries, RecordSpec } from './record-spec.ts';
import { batchRoute } from './batch.ts';
import { lockTargetOf, saveChanges, sharedBy, type AnyRecordSpec, type Shared } from './shared.ts';
import {
  mergePatchTypes,
  noStore,
  orNotFound,
  privateCache,
  versionHeaders,
  withLocked,
} from './versions.ts';

export { batchRefusedMembers } from './batch-schema.ts';
export type { Operation, Queries, Stored, Target } from './record-spec.ts';
export { inTransaction } from './versions.ts';

/** Path parameters of a record that is identified by a UUID. `example`: the id of a demo record. */
export const idParams = (example: string) =>
  z.strictObject({
    id: z.guid('must be a UUID').toLowerCase().meta({ description: 'Identifier of the record', example }),
  });

const listRoute = (
  { path, parents, tag, read }: AnyRecordSpec,
  { noun }: Shared,
  list: NonNullable<AnyRecordSpec['list']>,
): Route =>
  route(
    {
      method: 'get',
      path,
      operationId: `list${noun}s`,
      tag,
      summary: list.summary,
      ...(list.description !== undefined && { description: list.description }),
      ...(list.anyCaseQuery !== undefined && { anyCaseQuery: list.anyCaseQuery }),
      auth: read,
      confirmsCaller: list.confirmsReader,
      fast: list.fast,
      params: parents,
      query: list.query,
      responses: { 200: { description: 'One page; empty past the end', body: list.body } },
      problems: parents === undefined ? [] : [404],
    },
    async ({ query = {}, params = {}, caller }) => ({
      status: 200,
      rawBody: await list.page(query, { params, caller }),
    }),
  );

const createRoute = (
  { path, basePath, parents, tag, name, schema, write, sql }: AnyRecordSpec,
  { noun, etag, version }: Shared,
  { input, example, conflict, keep, insert }: NonNullable<AnyRecordSpec['create']>,
): Route =>
  route(
    {
      method: 'post',
      path,
      operationId: `create${noun}`,
      tag,
      summary: `Create a ${name}`,
      ...(conflict !== undefined && { description: conflict }),
      auth: write,
      params: parents,
      headers: idempotencyKeyHeader,
      body: { schema: input, example },
      responses: {
        201: {
          description: `The new ${name}`,
          body: schema,
          headers: { ...etag, Location: `Address of the ${name}` },
        },
      },
      problems: [...(parents === undefined ? [] : [404]), ...(conflict === undefined ? [] : [409]), 422],
    },
    async ({ caller, params = {}, body, req }) => {
      const key = idempotencyKeyOf(req);
      const listPath = path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) =>
        encodeURIComponent(String(params[parameter])),
      );
      const create = (queries: Queries) => insert(queries, body, { params, caller });
      const { id, json } =
        key === undefined
          ? await create(sql)
          : await withIdempotencyKey(
              sql,
              { owner: caller.subject, key, request: { path: listPath, body }, keep },
              create,
            );
      const headers = {
        ...versionHeaders(version(json)),
        Location: `${basePath}${listPath}/${encodeURIComponent(id)}`,
      };
      return { status: 201, headers, rawBody: json };
    },
  );

const readRoute = (
  { params, tag, name, schema, read, sql, find, isSecret, summary = `One ${name}`, readQuery }: AnyRecordSpec,
  { recordPath, noun, etag, ifNoneMatch, version, notFound }: Shared,
): Route =>
  route(
    {
      method: 'get',
      path: recordPath,
      operationId: `get${noun}`,
      tag,
      summary,
      auth: read,
      params,
      query: readQuery,
      headers: ifNoneMatch,
      responses: {
        200: { description: `The ${name}`, body: schema, headers: etag },
        304: { description: 'You have this version', headers: etag },
      },
      problems: notFound,
    },
    async (target) => {
      const { req } = target;
      const json = orNotFound(await find(sql, target, false), name);
      const current = version(json);
      const headers = { ...versionHeaders(current), ...(isSecret && noStore) };
      return isNotModified(req, current) ? { status: 304, headers } : { status: 200, headers, rawBody: json };
    },
  );

const mergePatch =
  'A JSON merge patch (RFC 7396): absent fields keep their values, null clears a field. A patch without changes writes nothing.';

const changeRoute = (
  spec: AnyRecordSpec,
  shared: Shared,
  change: NonNullable<AnyRecordSpec['change']>,
): Route => {
  const { patch, example, conflict, unprocessable } = change;
  const { params, tag, name, schema, write, sql, committed } = spec;
  const { recordPath, noun, etag, ifMatch, version, notFound } = shared;
  return route(
    {
      method: 'patch',
      path: recordPath,
      operationId: `change${noun}`,
      tag,
      summary: `Change some fields of a ${name}`,
      description: [mergePatch, conflict, unprocessable].filter((text) => text !== undefined).join(' '),
      auth: write,
      params,
      headers: ifMatch('change'),
      body: { schema: patch, example, types: mergePatchTypes },
      responses: { 200: { description: `The ${name}`, body: schema, headers: etag } },
      problems: [
        ...notFound,
        ...(conflict === undefined ? [] : [409]),
        412,
        ...(unprocessable === undefined ? [] : [422]),
      ],
    },
    async ({ body, req, ...target }) => {
      const lockTarget = lockTargetOf(spec, shared, { ...target, req, expected: expectedVersions(req) });
      const { json, isChanged } = await withLocked(sql, lockTarget, (tx, current) =>
        saveChanges(change, tx, { ...target, req, patch: body, current }),
      );
      if (isChanged) await committed?.(target);
      return { status: 200, headers: versionHeaders(version(json)), rawBody: json };
    },
  );
};

const deleteRoute = (
  spec: AnyRecordSpec,
  shared: Shared,
  remove: NonNullable<AnyRecordSpec['remove']>,
): Route => {
  const { params, tag, name, write, sql, committed } = spec;
  const { recordPath, noun, ifMatch } = shared;
  return route(
    {
      method: 'delete',
      path: recordPath,
      operationId: `delete${noun}`,
      tag,
      summary: `Delete a ${name}`,
      ...(remove.conflict !== undefined && { description: remove.conflict }),
      auth: write,
      params,
      query: remove.query,
      headers: ifMatch('delete'),
      responses: { 204: { description: `The ${name} is deleted` } },
      problems: [404, ...(remove.conflict === undefined ? [] : [409]), 412],
    },
    async ({ req, query = {}, ...target }) => {
      const lockTarget = lockTargetOf(spec, shared, { ...target, req, expected: expectedVersions(req) });
      await withLocked(sql, lockTarget, (tx) => remove.delete(tx, { ...target, query }));
      await committed?.(target);
      return { status: 204, headers: privateCache };
    },
  );
};

/**
 * Creates the operations of a record: list, create, read, patch, delete and batch, with ETag, If-None-Match, If-Match,
 * Idempotency-Key, and their descriptions. Source: docs/architecture.md (Records).
 */
export const record = <
  Params extends z.ZodObject,
  Reader,
  Writer extends Reader & { subject: string },
  Input extends z.ZodType<object> = z.ZodType<object>,
  Patch extends z.ZodType<object> = z.ZodType<object>,
  Parents extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Removal extends z.ZodObject = z.ZodObject,
>(
  typedSpec: RecordSpec<Params, Parents, Query, Input, Patch, Removal, Reader, Writer>,
): Route[] => {
  // Safe, because each route calls the functions with the output of the matching schema.
  const spec = typedSpec as unknown as AnyRecordSpec;
  const shared = sharedBy(spec);
  return [
    ...(spec.list ? [listRoute(spec, shared, spec.list)] : []),
    // Before the routes of a single record, whose path also matches that of the batch.
    ...(spec.batch ? [batchRoute(spec, shared, spec.batch)] : []),
    ...(spec.create ? [createRoute(spec, shared, spec.create)] : []),
    readRoute(spec, shared),
    ...(spec.change ? [changeRoute(spec, shared, spec.change)] : []),
    ...(spec.remove ? [deleteRoute(spec, shared, spec.remove)] : []),
  ];
};
