import type { Database } from '@platform/service-kit/db';
import { eq, sql } from 'drizzle-orm';
import { languages } from '../db/tables.ts';
import type { Language } from './schema.ts';

/** All languages, by code. */
export const findLanguages = ({ orm }: Database): Promise<Language[]> =>
  orm
    .select()
    .from(languages)
    .orderBy(sql`${languages.code} collate "C"`);

/** Adds or replaces a language. True if it is new. */
export const saveLanguage = async ({ orm }: Database, { code, ...rest }: Language): Promise<boolean> => {
  const [row] = await orm
    .insert(languages)
    .values({ code, ...rest })
    .onConflictDoUpdate({ target: languages.code, set: rest })
    // xmax is not 0 if this statement locked or replaced an existing row.
    .returning({ isNew: sql<boolean>`xmax = 0` });
  return row?.isNew ?? false;
};

/** False if it did not exist. */
export const deleteLanguage = async ({ orm }: Database, code: string): Promise<boolean> => {
  const gone = await orm
    .delete(languages)
    .where(eq(languages.code, code))
    .returning({ code: languages.code });
  return gone.length > 0;
};
