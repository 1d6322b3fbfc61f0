import { pageLimitBody, pageLimitQuery } from '@platform/pagination/list';
import { idParams } from '@platform/service-kit/record';
import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { email } from '../auth/schema.ts';
import { listRoles } from '../db/tables.ts';

/** Maximum number of lists of a user, and of members of a list including invitations. */
export const maxLists = 50;
export const maxMembers = 50;

const name = text(1, 100).regex(/\S/, 'must not be blank');
const role = z.enum(listRoles).meta({
  id: 'ListRole',
  description: 'A viewer may read, an editor may change tasks, an owner may do everything',
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
    members: z.record(z.string(), Member).meta({ description: 'Members and invitations by email address' }),
    createdAt: instant(),
    updatedAt: instant(),
  })
  .meta({ id: 'List' });

export type List = z.output<typeof List>;

export const NewList = z.strictObject({ name }).meta({ id: 'NewList' });

/** Refuses too many members without validating them: a record of zod validates thousands of wrong addresses in 30 ms. */
const requireFewMembers = (members: unknown, context: z.RefinementCtx): unknown => {
  if (typeof members === 'object' && members !== null && Object.keys(members).length > maxMembers)
    context.addIssue(`must have at most ${maxMembers} members`);
  return members;
};

export const ListPatch = z
  .strictObject({
    name: name.optional(),
    members: z
      .preprocess(requireFewMembers, z.record(email, z.strictObject({ role }).nullable()))
      .optional()
      .meta({
        description:
          'By email address: a new address is invited, a role replaces that of a member, null removes the member',
      }),
  })
  .meta({ id: 'ListPatch', description: 'A JSON Merge Patch (RFC 7396)' });

export type ListPatch = z.output<typeof ListPatch>;

export const ListQuery = z.strictObject(pageLimitQuery);

export const Lists = pageLimitBody('lists', List).meta({ id: 'Lists' });

const code = text(1, 200).meta({ description: 'Code of an invitation' });

export const Joining = z.strictObject({ code }).meta({ id: 'Joining' });

export const Invitations = z
  .object({ codes: z.record(z.string(), code).meta({ description: 'Codes by email address' }) })
  .meta({ id: 'Invitations' });
