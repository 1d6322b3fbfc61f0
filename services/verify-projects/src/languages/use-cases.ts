import { oneAtATime } from '@platform/service-kit/one-at-a-time';
import { requireVersion, versionOf } from '@platform/service-kit/record-versions';
import type { Context } from '../context.ts';
import { languages, saveLanguage } from './queries.ts';
import type { Language } from './schema.ts';

/** Adds or replaces a language. Throws a Problem (412 `stale`) when it has none of the expected versions. */
export const putLanguage = async (
  { database: { sql } }: Context,
  language: Language,
  { expected, caller }: { expected: readonly string[] | undefined; caller: string },
): Promise<{ json: string; isNew: boolean }> =>
  oneAtATime(sql, { name: 'language', params: { code: language.code }, caller }, () =>
    sql.begin(async (tx) => {
      const json = await languages.find(tx, { code: language.code }, true);
      requireVersion(expected, versionOf(json ?? ''), 'language');
      return saveLanguage(tx, language);
    }),
  );
