import type { IncomingMessage } from 'node:http';
import type { TransactionSql } from 'postgres';
import type { z } from 'zod';
import type { Queries, RecordSpec } from './record-spec.ts';
import { changes, documentedHeaders, versionFieldOf, versionOf, type Locked } from './versions.ts';

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
export const sharedBy = ({ path, params, name, schema, computed }: AnyRecordSpec) => {
  const noun = name.split(' ').map(capitalised).join('');
  /** The last parameter, which completes the path of a record; undefined for the one record of a caller. */
  const idName = Object.keys(params.shape).at(-1);
  return {
    recordPath: idName === undefined ? path : `${path}/{${idName}}`,
    idName,
    /** A record without an id belongs to its reader, and always exists. */
    notFound: idName === undefined ? [] : [404],
    noun,
    /** The name of a record as a field. */
    field: noun.charAt(0).toLowerCase() + noun.slice(1),
    version: (json: string) => ('version' in schema.shape ? versionFieldOf : versionOf)(json, computed),
    ...documentedHeaders(name),
  };
};

export type Shared = ReturnType<typeof sharedBy>;

/** The record that a request changes, who asks, and the versions that they expect: of If-Match. */
export interface Change {
  req: IncomingMessage;
  params: Record<string, unknown>;
  caller: { subject: string };
  expected: readonly string[] | undefined;
}

/** How the record is locked for a change. */
export const lockedBy = (
  { name, find }: AnyRecordSpec,
  { version }: Shared,
  { expected, ...target }: Change,
): Locked => ({
  name,
  params: target.params,
  caller: target.caller.subject,
  version,
  expected,
  find: (tx: Queries) => find(tx, target, true),
});

/** Saves a patch of the record that was locked as `current`, unless it changes nothing. */
export const saveChanges = async (
  { save, remarks = [] }: NonNullable<AnyRecordSpec['change']>,
  tx: TransactionSql,
  { patch, current, ...target }: Omit<Change, 'expected'> & { patch: object; current: string },
): Promise<{ json: string; isChanged: boolean }> => {
  const fields = Object.entries(patch).filter(([field]) => !remarks.includes(field));
  const isChanged = changes(JSON.parse(current) as object, Object.fromEntries(fields));
  return { json: isChanged ? await save(tx, patch, target, current) : current, isChanged };
};
