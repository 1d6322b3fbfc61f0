import type { Queries } from '@platform/service-kit/record';
import type { Language } from './schema.ts';

/** A language as JSON text. */
interface JsonRow {
  json: string;
}

const json = (sql: Queries) => sql`
  (select row_to_json(language)::text from (select code, name, native_name, direction) language) as json`;

/** All languages, by code. */
export const findLanguages = async (sql: Queries): Promise<string[]> => {
  const rows = await sql<JsonRow[]>`select ${json(sql)} from languages order by code collate "C"`;
  return rows.map((row) => row.json);
};

/** `lock` locks the language for other writers until the transaction ends. */
export const findLanguage = async (
  sql: Queries,
  code: string,
  lock: boolean,
): Promise<string | undefined> => {
  const [row] = await sql<JsonRow[]>`
    select ${json(sql)} from languages where code = ${code} ${lock ? sql`for update` : sql``}`;
  return row?.json;
};

/** Adds or replaces a language. */
export const saveLanguage = async (
  sql: Queries,
  language: Language,
): Promise<JsonRow & { isNew: boolean }> => {
  const { code: _, ...values } = language;
  // xmax is not 0 if this statement locked or replaced an existing row.
  const [row] = await sql<[JsonRow & { isNew: boolean }]>`
    insert into languages ${sql(language)} on conflict (code) do update set ${sql(values)}
    returning ${json(sql)}, xmax = 0 as "isNew"`;
  return row;
};

export const deleteLanguage = async (sql: Queries, code: string): Promise<void> => {
  await sql`delete from languages where code = ${code}`;
};
