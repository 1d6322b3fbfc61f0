import { fullListJson } from '@platform/pagination/list';
import { record } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { findLanguages, languages } from './queries.ts';
import { Language, LanguageList, LanguagePath } from './schema.ts';

export const languageRecord = ({ reader, admin, database: { sql } }: Context): Route[] =>
  record({
    path: '/languages',
    basePath: '/v1',
    params: LanguagePath,
    tag: 'Languages',
    name: 'language',
    schema: Language,
    read: reader,
    write: admin,
    sql,
    list: {
      summary: 'All languages, by code, as one page',
      body: LanguageList,
      page: async () => fullListJson('languages', await findLanguages(sql)),
    },
    find: (on, { params }, lock) => languages.find(on, params, lock),
    // Projects that name the language keep its code.
    remove: { delete: (on, { params }) => languages.remove(on, params) },
  });
