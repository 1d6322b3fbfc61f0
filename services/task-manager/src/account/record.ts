import { record } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import { z } from 'zod';
import { User } from '../auth/schema.ts';
import { profiles } from '../auth/use-cases.ts';
import type { Context } from '../context.ts';
import { ProfilePatch } from './schema.ts';

/** Routes to read and change the own profile. */
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
    find: (tx, { caller }, lock) => profiles.find(tx, { id: caller.subject }, lock),
    change: {
      patch: ProfilePatch,
      example: { name: 'Ada', language: 'de' },
      save: (tx, patch, { caller }) =>
        profiles.update(tx, { id: caller.subject }, { ...patch, version: tx`version + 1` }),
    },
  });
};
