import { pageLimitBody } from '@platform/pagination/list';
import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { deliverableStatuses, deliverableTypes } from '../db/tables.ts';
import { languageTag } from '../language-tag.ts';
import { ProjectPath } from '../projects/schema.ts';
import { timestamp } from '../timestamp.ts';

const type = z.enum(deliverableTypes);
const status = z.enum(deliverableStatuses);

export const DeliverablePath = ProjectPath.extend({
  deliverable_id: z
    .guid('must be a UUID')
    .toLowerCase()
    .meta({ description: 'Identifier of the deliverable' }),
});

const fields = {
  language: languageTag(),
  type,
  status,
  due_at: timestamp('When it is due.').nullable(),
};

export const DeliverableInput = z
  .strictObject({ ...fields, status: status.default('pending'), due_at: fields.due_at.default(null) })
  .meta({ id: 'DeliverableInput' });
export type DeliverableInput = z.output<typeof DeliverableInput>;

export const DeliverablePatch = z.strictObject(fields).partial().meta({ id: 'DeliverablePatch' });
export type DeliverablePatch = z.output<typeof DeliverablePatch>;

export const Deliverable = z
  .object({
    id: z.guid(),
    project_id: z.guid(),
    language: z.string(),
    type,
    status,
    due_at: instant().nullable(),
    updated_at: instant(),
  })
  .meta({ id: 'Deliverable' });

export const DeliverableList = pageLimitBody('deliverables', Deliverable).meta({ id: 'DeliverableList' });
