import { NotFound } from '@platform/service-kit/problem';
import type { Context } from '../context.ts';
import type { Language } from './schema.ts';
import { deleteLanguage, findLanguages, saveLanguage } from './queries.ts';

export const listLanguages = (ctx: Context): Promise<Language[]> => findLanguages(ctx.database);

/** Adds or replaces a language. True if it is new. */
export const putLanguage = (ctx: Context, language: Language): Promise<boolean> =>
  saveLanguage(ctx.database, language);

/** Projects that name the language keep its code. Throws NotFound. */
export const removeLanguage = async (ctx: Context, code: string): Promise<void> => {
  if (!(await deleteLanguage(ctx.database, code))) throw new NotFound('language');
};
