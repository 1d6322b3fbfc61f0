import { fullListJson } from '@platform/pagination/list';
import type { Queries } from '@platform/service-kit/record';
import { requireVersion, versionOf } from '@platform/service-kit/record-versions';
import type { Context } from '../context.ts';
import { deleteLanguage, findLanguage, findLanguages, saveLanguage } from './queries.ts';
import type { Language } from './schema.ts';

interface OneLanguage {
  params: { code: string };
}

/** What `record()` does with languages. */
export const languagesOf = ({ database: { sql } }: Context) => ({
  page: async () => fullListJson('languages', await findLanguages(sql)),
  find: (on: Queries, { params: { code } }: OneLanguage, lock: boolean) => findLanguage(on, code, lock),
  /** Projects that name the language keep its code. */
  remove: (on: Queries, { params: { code } }: OneLanguage) => deleteLanguage(on, code),
});

/** Adds or replaces a language. Throws a Problem (412 `stale`) when it has none of the expected versions. */
export const putLanguage = async (
  { database: { sql } }: Context,
  language: Language,
  expected: readonly string[] | undefined,
): Promise<{ json: string; isNew: boolean }> =>
  sql.begin(async (tx) => {
    const json = await findLanguage(tx, language.code, true);
    requireVersion(expected, versionOf(json ?? ''), 'language');
    return saveLanguage(tx, language);
  });
