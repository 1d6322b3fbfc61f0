import { record } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import { z } from 'zod';
import { User } from '../auth/schema.ts';
import { profiles } from '../auth/use-cases.ts';
import type { Context } from '../context.ts';
import { ProfilePatch } from './schema.ts';

/** What users see and change of themselves. */
export const profileRoutes = ({ tokens, database: { sql } }: Context): Route[] => {
  const user = tokens.guard();
  return record({
    path: '/auth/me',
    basePath: '/api/v1',
    params: z.strictObject({}),
    tag: 'Account',
    name: 'profile',
    summary: 'Your account',
    schema: User,
    read: user,
    write: user,
    sql,
    find: (on, { caller }, lock) => profiles.find(on, { id: caller.subject }, lock),
    change: {
      patch: ProfilePatch,
      example: { name: 'Ada', language: 'de' },
      save: (on, patch, { caller }) =>
        profiles.update(on, { id: caller.subject }, { ...patch, version: on`version + 1` }),
    },
  });
};
