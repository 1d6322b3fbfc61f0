import { pageLimitBody, pageLimitQuery } from '@platform/pagination/list';
import { idParams } from '@platform/service-kit/record';
import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { email } from '../auth/schema.ts';
import { listRoles } from '../db/tables.ts';

/** Lists of a user; members of a list, with those that are invited. */
export const maxLists = 50;
export const maxMembers = 50;

const name = text(1, 100).regex(/\S/, 'must not be blank');
const role = z.enum(listRoles).meta({
  id: 'ListRole',
  description: 'A viewer reads, an editor changes tasks, an owner may do everything',
});

export const ListPath = idParams('01900000-0000-7000-8000-00000000d100');

const Member = z.object({
  role,
  status: z.enum(['invited', 'joined']),
  userId: z.uuid().nullable().meta({ description: 'null until the invitation is accepted' }),
  name: z.string().nullable(),
});

export const List = z
  .object({
    id: z.uuid(),
    name: z.string(),
    members: z.record(z.string(), Member).meta({ description: 'By email address' }),
    createdAt: instant(),
    updatedAt: instant(),
  })
  .meta({ id: 'List' });

export type List = z.output<typeof List>;

export const NewList = z.strictObject({ name }).meta({ id: 'NewList' });

export const ListPatch = z
  .strictObject({
    name: name.optional(),
    members: z
      .record(email, z.strictObject({ role }).nullable())
      .refine((all) => Object.keys(all).length <= maxMembers, `must have at most ${maxMembers} members`)
      .optional()
      .meta({ description: 'By email address: a new one is invited, another role is given, null removes' }),
  })
  .meta({ id: 'ListPatch', description: 'A JSON Merge Patch (RFC 7396)' });

export type ListPatch = z.output<typeof ListPatch>;

export const ListQuery = z.strictObject(pageLimitQuery);

export const Lists = pageLimitBody('lists', List).meta({ id: 'Lists' });

const code = text(1, 200).meta({ description: 'Secret of an invitation' });

export const Joining = z.strictObject({ code }).meta({ id: 'Joining' });

export const Invitations = z
  .object({ codes: z.record(z.string(), code).meta({ description: 'By email address' }) })
  .meta({ id: 'Invitations' });
