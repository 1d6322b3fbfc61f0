import { jsonTable, type JsonRow } from '@platform/service-kit/json-table';
import type { Queries } from '@platform/service-kit/record';
import { Language } from './schema.ts';

export const languages = jsonTable('languages', Object.keys(Language.shape));

/** All languages, by code. */
export const findLanguages = (sql: Queries): Promise<string[]> =>
  languages.list(sql, sql`order by code collate "C"`);

/** Adds or replaces a language. */
export const saveLanguage = async (
  sql: Queries,
  language: Language,
): Promise<JsonRow & { isNew: boolean }> => {
  const { code: _, ...values } = language;
  // xmax is not 0 if this statement locked or replaced an existing row.
  const [row] = await sql<[JsonRow & { isNew: boolean }]>`
    insert into languages ${sql(language)} on conflict (code) do update set ${sql(values)}
    returning ${sql.unsafe(languages.json)}, xmax = 0 as "isNew"`;
  return row;
};
