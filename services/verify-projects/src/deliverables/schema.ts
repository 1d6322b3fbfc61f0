import { pageLimitBody } from '@platform/pagination/list';
import { instant, text } from '@platform/service-kit/text';
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

/** An https address. The pattern of the host excludes a user and a password. */
const fileUrl = z
  .string()
  .max(2000)
  .regex(
    /^https:\/\/[\w.-]+(?::\d+)?(?:[/?#][!-[\]-~]*)?$/i,
    'must be an https address without a user; percent-encode letters that are not ASCII, such as %C3%B6',
  )
  .meta({ description: 'Address of its file', example: 'https://files.example.test/diploma-et.pdf' });

const fields = {
  name: text(1, 200).nullable(),
  language: languageTag(),
  type,
  status,
  file_url: fileUrl.nullable(),
  assignee: text(1, 200).nullable().meta({ description: 'Who works on it' }),
  due_at: timestamp('When it is due.').nullable(),
  delivered_at: timestamp('When it was delivered; set when its status becomes delivered.').nullable(),
};

export const DeliverableInput = z
  .strictObject({ ...fields, status: status.default('pending') })
  .partial({ name: true, file_url: true, assignee: true, due_at: true, delivered_at: true })
  .meta({ id: 'DeliverableInput' });
export type DeliverableInput = z.output<typeof DeliverableInput>;

export const DeliverablePatch = z.strictObject(fields).partial().meta({ id: 'DeliverablePatch' });
export type DeliverablePatch = z.output<typeof DeliverablePatch>;

export const Deliverable = z
  .object({
    id: z.guid(),
    project_id: z.guid(),
    name: z.string().nullable(),
    language: z.string(),
    type,
    status,
    file_url: z.string().nullable(),
    assignee: z.string().nullable(),
    due_at: instant().nullable(),
    delivered_at: instant().nullable(),
    updated_at: instant(),
    version: z.int().min(1).meta({ description: 'Increases with each change; the ETag of the deliverable' }),
  })
  .meta({ id: 'Deliverable' });

export const DeliverableList = pageLimitBody('deliverables', Deliverable).meta({ id: 'DeliverableList' });
