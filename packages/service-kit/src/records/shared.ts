import type { IncomingMessage } from 'node:http';
import type { TransactionSql } from 'postgres';
import type { z } from 'zod';
import type { Queries, RecordSpec } from './record-spec.ts';
import { documentedHeaders, patchChanges, versionFieldOf, versionOf, type LockTarget } from './versions.ts';

/** A record declaration without its types. Each route calls its functions with the output of the matching schema. */
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

/** Creates the values that all routes of a record use. */
export const sharedBy = ({ path, params, name, schema, computed }: AnyRecordSpec) => {
  const noun = name.split(' ').map(capitalised).join('');
  /** The last path parameter, which identifies a record; undefined if each caller has only one record. */
  const idName = Object.keys(params.shape).at(-1);
  return {
    recordPath: idName === undefined ? path : `${path}/{${idName}}`,
    idName,
    /** The only record of a caller always exists. */
    notFound: idName === undefined ? [] : [404],
    noun,
    /** The record's name as a field name. */
    field: noun.charAt(0).toLowerCase() + noun.slice(1),
    version: (json: string) => ('version' in schema.shape ? versionFieldOf : versionOf)(json, computed),
    ...documentedHeaders(name),
  };
};

export type Shared = ReturnType<typeof sharedBy>;

/** A request that changes a record. `expected`: the versions in If-Match. */
export interface Change {
  req: IncomingMessage;
  params: Record<string, unknown>;
  caller: { subject: string };
  expected: readonly string[] | undefined;
}

/** The lock target of a change. */
export const lockTargetOf = (
  { name, find }: AnyRecordSpec,
  { version }: Shared,
  { expected, ...target }: Change,
): LockTarget => ({
  name,
  params: target.params,
  caller: target.caller.subject,
  version,
  expected,
  find: (tx: Queries) => find(tx, target, true),
});

/** Saves a patch of a locked record unless it changes nothing. `current`: the record as JSON text. */
export const saveChanges = async (
  { save, remarks = [] }: NonNullable<AnyRecordSpec['change']>,
  tx: TransactionSql,
  { patch, current, ...target }: Omit<Change, 'expected'> & { patch: object; current: string },
): Promise<{ json: string; isChanged: boolean }> => {
  const fields = Object.entries(patch).filter(([field]) => !remarks.includes(field));
  const isChanged = patchChanges(JSON.parse(current) as object, Object.fromEntries(fields));
  return { json: isChanged ? await save(tx, patch, target, current) : current, isChanged };
};
