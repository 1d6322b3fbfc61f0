import { boundedList } from '@platform/service-kit/bounded-list';
import { pageLimitBody, pageLimitQuery } from '@platform/pagination/list';
import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { taskPriority, taskStatus } from '../db/tables.ts';

const status = z.enum(taskStatus.enumValues).meta({ id: 'TaskStatus' });
const priority = z.enum(taskPriority.enumValues).meta({ id: 'TaskPriority', description: 'In sort order' });
const title = text(1, 200).regex(/\S/, 'must not be blank');
const description = text(0, 10_000);
const tag = text(1, 40);
const tags = boundedList(tag, 0, 20).refine(
  (all) => new Set(all).size === all.length,
  'must not repeat a tag',
);
/** PostgreSQL has no year 0. */
const day = z.iso
  .date()
  .refine((date) => !date.startsWith('0000'), 'must be a date from year 1 onwards')
  .meta({ example: '2026-02-28' });

export const Task = z
  .object({
    id: z.uuid(),
    title: z.string(),
    description: z.string(),
    status,
    priority,
    dueDate: z.iso.date().nullable(),
    tags: z.array(z.string()),
    completedAt: instant()
      .nullable()
      .meta({ description: 'When the task became done; null while it is not' }),
    createdAt: instant(),
    updatedAt: instant(),
    version: z
      .int()
      .min(1)
      .meta({ description: 'Increases with each change; the ETag of the task contains it' }),
  })
  .meta({ id: 'Task' });

export type Task = z.output<typeof Task>;

export const NewTask = z
  .strictObject({
    title,
    description: description.default(''),
    status: status.default('todo'),
    priority: priority.default('medium'),
    dueDate: day.nullable().default(null),
    tags: tags.default([]),
  })
  .meta({ id: 'NewTask' });

export type NewTask = z.output<typeof NewTask>;

export const TaskPatch = z
  .strictObject({
    title: title.optional(),
    description: description
      .nullable()
      .transform((text) => text ?? '')
      .optional()
      .meta({ description: 'null empties it' }),
    status: status.optional(),
    priority: priority.optional(),
    dueDate: day.nullable().optional().meta({ description: 'null removes it' }),
    tags: tags
      .nullable()
      .transform((all) => all ?? [])
      .optional()
      .meta({ description: 'Replaces all tags; null removes them' }),
  })
  .meta({ id: 'TaskPatch', description: 'A JSON Merge Patch (RFC 7396): absent fields stay as they are' });

export type TaskPatch = z.output<typeof TaskPatch>;

const fields = ['createdAt', 'updatedAt', 'dueDate', 'priority', 'title'] as const;
const sorts = fields.flatMap((field) => [field, `-${field}`] as const);

export const TaskQuery = z.strictObject({
  ...pageLimitQuery,
  status: status.optional(),
  priority: priority.optional(),
  tag: tag.optional().meta({ description: 'Tasks with this tag' }),
  dueBefore: day.optional().meta({ description: 'Tasks due before this day' }),
  dueAfter: day.optional().meta({ description: 'Tasks due after this day' }),
  q: text(1, 200).optional().meta({ description: 'Words that must all occur in the title or description' }),
  sort: z.enum(sorts).default('-createdAt').meta({
    description: 'Field to sort by, `-` for descending; equal tasks by id, tasks without a due date last',
  }),
});

export type Sort = z.output<typeof TaskQuery>['sort'];
export type Filters = Pick<
  z.output<typeof TaskQuery>,
  'status' | 'priority' | 'tag' | 'dueBefore' | 'dueAfter' | 'q'
>;

export const TaskList = pageLimitBody('tasks', Task).meta({ id: 'TaskList' });
