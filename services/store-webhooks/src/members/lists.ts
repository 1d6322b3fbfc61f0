import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { importJobs, importStates, members } from '../db/tables.ts';
import { declareList } from '../stores/lists.ts';

const MemberView = z
  .object({
    id: z.string().meta({ description: 'The id that the POS gave' }),
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

export const memberList = declareList({
  table: members,
  latest: members.eventId,
  name: 'members',
  tag: 'Members',
  summary: 'The members, most recently changed first',
  view: MemberView,
  show: (row) => ({ ...row, modified: row.version }),
  one: {
    noun: 'member',
    param: 'memberId',
    operationId: 'getMember',
    summary: 'A member as its webhooks described it',
    key: members.id,
  },
});

const ImportJobView = z
  .object({
    id: z.uuid(),
    memberId: z.string(),
    state: z.enum(importStates),
    attempts: z.int(),
    error: z.string().nullable(),
    userId: z.uuid().nullable(),
    createdAt: instant(),
    finishedAt: instant().nullable(),
  })
  .meta({ id: 'ImportJob' });

export const importJobList = declareList({
  table: importJobs,
  latest: importJobs.id,
  name: 'importJobs',
  tag: 'Members',
  summary: 'Imports of members as users, newest first',
  view: ImportJobView,
});
