import type { PendingQuery, Row } from 'postgres';

/** A piece of a statement. */
export type Fragment = PendingQuery<Row[]>;

const special = /[\\"]/g;

/**
 * An array as PostgreSQL reads it from text (manual, 8.15.2), for `${arrayOf(ids)}::text::uuid[]`. The driver would
 * escape each element on its own, which takes several times as long.
 */
export const arrayOf = (values: readonly (string | null)[]): string =>
  `{${values.map((value) => (value === null ? 'null' : `"${value.replace(special, '\\$&')}"`)).join(',')}}`;

/** As `arrayOf`, for UUIDs, numbers and others that need no quotes. */
export const plainArrayOf = (values: readonly (string | number | null)[]): string =>
  `{${values.map((value) => value ?? 'null').join(',')}}`;
