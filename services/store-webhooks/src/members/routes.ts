import type { Route } from '@platform/service-kit/route';
import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { storeList } from '../stores/list.ts';
import { isoOf, isoOrNull } from '../time.ts';

const MemberView = z
  .object({
    id: z.string().meta({ description: "The POS's" }),
    email: z.string().nullable(),
    firstName: z.string().nullable(),
    lastName: z.string().nullable(),
    phone: z.string().nullable(),
    status: z.string().nullable(),
    type: z.string().nullable(),
    modified: z.number().nullable(),
    updatedAt: instant(),
  })
  .meta({ id: 'Member' });

const ImportJobView = z
  .object({
    id: z.uuid(),
    memberId: z.string(),
    state: z.enum(['pending', 'done', 'failed']),
    attempts: z.int(),
    error: z.string().nullable(),
    userId: z.uuid().nullable(),
    createdAt: instant(),
    finishedAt: instant().nullable(),
  })
  .meta({ id: 'ImportJob' });

type Stamped<T, K extends keyof T> = Omit<T, K> & Record<K, string>;
type MemberRow = Stamped<z.input<typeof MemberView>, 'updatedAt'>;
type ImportJobRow = Stamped<z.input<typeof ImportJobView>, 'createdAt'>;

export const memberRoutes = (context: Context): Route[] => {
  const { sql } = context.database;
  return [
    storeList<MemberRow, typeof MemberView>(context, {
      name: 'members',
      path: 'members',
      tag: 'Members',
      summary: 'The members, the last changed first',
      item: MemberView,
      rows: (store) => sql`
        select id, email, first_name as "firstName", last_name as "lastName", phone, status, type,
          version::float8 as modified, updated_at as "updatedAt"
        from members where store_id = ${store} order by event_id desc`,
      show: (row) => ({ ...row, updatedAt: isoOf(row.updatedAt) }),
    }),
    storeList<ImportJobRow, typeof ImportJobView>(context, {
      name: 'importJobs',
      path: 'import-jobs',
      tag: 'Members',
      summary: 'Members that become users, newest first',
      item: ImportJobView,
      rows: (store) => sql`
        select id, member_id as "memberId", state, attempts, error, user_id as "userId",
          created_at as "createdAt", finished_at as "finishedAt"
        from import_jobs where store_id = ${store} order by id desc`,
      show: (row) => ({ ...row, createdAt: isoOf(row.createdAt), finishedAt: isoOrNull(row.finishedAt) }),
    }),
  ];
};
