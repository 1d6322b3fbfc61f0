import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { isoOf, isoOrNull } from '../time.ts';

export const MemberView = z
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

export const ImportJobView = z
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
export type MemberRow = Stamped<z.input<typeof MemberView>, 'updatedAt'>;
export type ImportJobRow = Stamped<z.input<typeof ImportJobView>, 'createdAt'>;

export const showMember = (row: MemberRow): z.input<typeof MemberView> => ({
  ...row,
  updatedAt: isoOf(row.updatedAt),
});

export const showImportJob = (row: ImportJobRow): z.input<typeof ImportJobView> => ({
  ...row,
  createdAt: isoOf(row.createdAt),
  finishedAt: isoOrNull(row.finishedAt),
});
