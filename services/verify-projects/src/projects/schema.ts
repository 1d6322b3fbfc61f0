import { uniqueList } from '@platform/service-kit/bounded-list';
import { booleanParameter, pageLimitBody, pageLimitQuery } from '@platform/pagination/list';
import { idParams } from '@platform/service-kit/record';
import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { deliverableStatuses, projectStatuses } from '../db/tables.ts';
import { languageTag } from '../language-tag.ts';
import { timestamp } from '../timestamp.ts';

const status = z.enum(projectStatuses);

export const ProjectPath = idParams('0198c5a0-7e57-7000-8000-000000000000');

/** The client that ordered a project. API keys can be limited to clients. Ids are stored in lower case, as in tokens. */
export const clientName = () =>
  text(1, 200)
    .overwrite((name) => (z.guid().safeParse(name).success ? name.toLowerCase() : name))
    .meta({ description: 'The client that ordered it, by name or id', example: 'University of Tartu' });

const fields = {
  name: text(1, 200),
  client: clientName().nullable(),
  status,
  source_language: languageTag('Language of the source, as a BCP 47 tag'),
  target_languages: uniqueList(languageTag(), 0, 200, 'must not name a language twice'),
  due_at: timestamp('When it is due.').nullable(),
};

export const ProjectInput = z
  .strictObject({ ...fields, status: status.default('draft') })
  .partial({ client: true, due_at: true })
  .meta({ id: 'ProjectInput' });
export type ProjectInput = z.output<typeof ProjectInput>;

export const ProjectPatch = z.strictObject(fields).partial().meta({ id: 'ProjectPatch' });
export type ProjectPatch = z.output<typeof ProjectPatch>;

export const Project = z
  .object({
    id: z.guid(),
    name: z.string(),
    client: z.string().nullable(),
    status,
    source_language: z.string(),
    target_languages: z.array(z.string()),
    due_at: instant().nullable(),
    created_at: instant(),
    updated_at: instant(),
    version: z
      .int()
      .min(1)
      .meta({ description: 'Increases when a caller changes it; the ETag begins with it' }),
  })
  .meta({ id: 'Project' });

/** A single project, with the number of its deliverables by status. */
export const ProjectDetails = Project.extend({
  deliverables_by_status: z.object(
    Object.fromEntries(deliverableStatuses.map((name) => [name, z.int().min(0)])),
  ),
}).meta({ id: 'ProjectDetails' });
export type ProjectDetails = z.output<typeof ProjectDetails>;

export const ProjectQuery = z.strictObject({
  ...pageLimitQuery,
  status: status.optional().meta({ description: 'Only projects of this status' }),
  modified_after: timestamp('Only projects whose updated_at is at or after this time.').optional(),
});
export type ProjectQuery = z.output<typeof ProjectQuery>;

export const RemovalQuery = z.strictObject({
  force: booleanParameter('Whether to delete a project that was not archived for long enough'),
});

export const ProjectList = pageLimitBody('projects', Project).meta({ id: 'ProjectList' });
