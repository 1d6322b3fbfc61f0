import type { Database } from '@platform/service-kit/db';
import { eq, sql } from 'drizzle-orm';
import { languages } from '../db/tables.ts';
import type { Language } from './schema.ts';

/** All of them, by code. */
export const findLanguages = ({ orm }: Database): Promise<Language[]> =>
  orm
    .select()
    .from(languages)
    .orderBy(sql`${languages.code} collate "C"`);

/** Puts a language in place of the one of its code. True when there was none. */
export const saveLanguage = async ({ orm }: Database, { code, ...rest }: Language): Promise<boolean> => {
  const [row] = await orm
    .insert(languages)
    .values({ code, ...rest })
    .onConflictDoUpdate({ target: languages.code, set: rest })
    // A row that was there has been locked or replaced by this statement, and says so.
    .returning({ isNew: sql<boolean>`xmax = 0` });
  return row?.isNew ?? false;
};

/** False when there was none. */
export const deleteLanguage = async ({ orm }: Database, code: string): Promise<boolean> => {
  const gone = await orm
    .delete(languages)
    .where(eq(languages.code, code))
    .returning({ code: languages.code });
  return gone.length > 0;
};
