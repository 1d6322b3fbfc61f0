import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { expectedVersions } from '../http/etag.ts';
import type { Queries, RecordSpec } from './record-spec.ts';
import { documentedHeaders, versionFieldOf, versionOf } from './versions.ts';

/** A record of any type; each route gives the functions what its own schemas have parsed. */
export type AnyRecordSpec = RecordSpec<
  z.ZodObject,
  z.ZodObject,
  z.ZodObject,
  z.ZodType<object>,
  z.ZodType<object>,
  z.ZodObject,
  unknown,
  { subject: string }
>;

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase();

/** What the routes of a record share. */
export const sharedBy = ({ path, params, name, schema, computed }: AnyRecordSpec) => ({
  recordPath: [
    path,
    ...Object.keys(params.shape)
      .slice(-1)
      .map((parameter) => `{${parameter}}`),
  ].join('/'),
  /** A record without an id belongs to its reader, and always exists. */
  notFound: Object.keys(params.shape).length === 0 ? [] : [404],
  noun: name.split(' ').map(capitalised).join(''),
  version: (json: string) => ('version' in schema.shape ? versionFieldOf : versionOf)(json, computed),
  ...documentedHeaders(name),
});

export type Shared = ReturnType<typeof sharedBy>;

/** The record that a request changes, and the version that it expects. */
export const lockedBy = (
  { name, find }: AnyRecordSpec,
  { version }: Shared,
  req: IncomingMessage,
  target: { params: Record<string, unknown>; caller: { subject: string } },
) => ({
  name,
  params: target.params,
  caller: target.caller.subject,
  version,
  expected: expectedVersions(req),
  find: (tx: Queries) => find(tx, { ...target, req }, true),
});
