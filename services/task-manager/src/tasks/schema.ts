import { uniqueList } from '@platform/service-kit/bounded-list';
import { pageLimitBody, pageLimitQuery } from '@platform/pagination/list';
import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { taskPriority, taskStatus } from '../db/tables.ts';

const status = z.enum(taskStatus.enumValues).meta({ id: 'TaskStatus' });
const priority = z.enum(taskPriority.enumValues).meta({ id: 'TaskPriority', description: 'In sort order' });
const title = text(1, 200).regex(/\S/, 'must not be blank');
const description = text(0, 10_000);
const tag = text(1, 40);
const tags = uniqueList(tag, 0, 20, 'must not repeat a tag');
/** A date. PostgreSQL has no year 0. */
const day = z.iso
  .date()
  .refine((date) => !date.startsWith('0000'), 'must be a date from year 1 onwards')
  .meta({ example: '2026-02-28' });

/** A time, with the same limit as `day`. */
const time = instant().refine((value) => !value.startsWith('0000'), 'must be a time from year 1 onwards');

const hour = 3_600_000;

interface Due {
  dueDate?: string | null | undefined;
  dueAt?: string | null | undefined;
}

/** A due time must be on the due date in some time zone, from UTC-12 to UTC+14, because the time zone of the user is unknown. */
const requireDay = ({ dueDate, dueAt }: Due, context: z.RefinementCtx): void => {
  if (typeof dueAt !== 'string') return;
  const path = ['dueAt'];
  if (typeof dueDate !== 'string') {
    context.addIssue({ code: 'custom', path, message: 'must be sent together with dueDate' });
    return;
  }
  const sinceMidnight = Date.parse(dueAt) - Date.parse(dueDate);
  if (sinceMidnight < -14 * hour || sinceMidnight >= 36 * hour)
    context.addIssue({ code: 'custom', path, message: 'must be on the dueDate in some time zone' });
};

const userOrListId = z.guid('must be a UUID').toLowerCase();
const assignee = userOrListId.nullable().meta({ description: 'The userId of a member of the list' });

export const Task = z
  .object({
    id: z.uuid(),
    title: z.string(),
    description: z.string(),
    status,
    priority,
    dueDate: z.iso.date().nullable(),
    dueAt: instant().nullable().meta({ description: 'A time on the due date; null: no time of day' }),
    tags: z.array(z.string()),
    listId: z.uuid().nullable().meta({ description: 'The list of the task; null: your own task' }),
    assigneeId: z.uuid().nullable().meta({ description: 'A member of the list' }),
    completedAt: instant()
      .nullable()
      .meta({ description: 'When the status became `done`; null for other statuses' }),
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
    dueAt: time.nullable().default(null).meta({ description: 'A time on the due date; requires dueDate' }),
    tags: tags.default([]),
    listId: userOrListId
      .nullable()
      .default(null)
      .meta({ description: 'A list whose tasks you may change; cannot be changed later' }),
    assigneeId: assignee.default(null),
  })
  .superRefine(requireDay)
  .meta({ id: 'NewTask' });

export type NewTask = z.output<typeof NewTask>;

export const TaskPatch = z
  .strictObject({
    title: title.optional(),
    description: description
      .nullable()
      .transform((text) => text ?? '')
      .optional()
      .meta({ description: 'null stores an empty text' }),
    status: status.optional(),
    priority: priority.optional(),
    dueDate: day.nullable().optional().meta({ description: 'Another date or null also removes dueAt' }),
    dueAt: time
      .nullable()
      .optional()
      .meta({ description: 'Requires dueDate in the same patch; null removes it' }),
    tags: tags
      .nullable()
      .transform((values) => values ?? [])
      .optional()
      .meta({ description: 'Replaces all tags; null removes them' }),
    assigneeId: assignee.optional(),
  })
  .superRefine(requireDay)
  .meta({ id: 'TaskPatch', description: 'A JSON Merge Patch (RFC 7396): absent fields are not changed' });

export type TaskPatch = z.output<typeof TaskPatch>;

const statuses = z
  .string()
  .regex(
    /^(?:todo|in_progress|done)(?:,(?:todo|in_progress|done))*$/,
    `must be one or more of ${status.options.join('|')}`,
  )
  .transform((list) => list.split(','))
  .refine((values) => new Set(values).size === values.length, 'must not repeat a status')
  .meta({
    description: 'Tasks with one of these statuses, separated by commas',
    example: 'todo,in_progress',
  });

const fields = ['createdAt', 'updatedAt', 'dueDate', 'priority', 'title'] as const;
const sorts = fields.flatMap((field) => [field, `-${field}`] as const);

export const TaskQuery = z.strictObject({
  ...pageLimitQuery,
  status: statuses.optional(),
  priority: priority.optional().meta({ description: 'Tasks of this priority' }),
  tag: tag.optional().meta({ description: 'Tasks with this tag' }),
  dueBefore: day.optional().meta({ description: 'Tasks due before this day' }),
  dueAfter: day.optional().meta({ description: 'Tasks due after this day' }),
  list: userOrListId.optional().meta({ description: 'Tasks of this list; default: your own tasks' }),
  assignee: userOrListId.optional().meta({ description: 'Tasks assigned to this member of the list' }),
  due: z.enum(['today', 'overdue', 'week']).optional().meta({
    description:
      'Tasks due today, overdue (due before now and not done), or due within seven days including today',
  }),
  tz: text(1, 64).optional().meta({
    description: 'IANA time zone of the days in `due`; default: UTC',
    example: 'Europe/Berlin',
  }),
  q: text(1, 200).optional().meta({
    description: 'Prefixes of words; all must occur in the title or description',
  }),
  sort: z.enum(sorts).default('-createdAt').meta({
    description:
      'Sort field, `-` for descending; equal tasks are sorted by id, tasks without a due date come last',
  }),
});

export type Sort = z.output<typeof TaskQuery>['sort'];
export type Filters = Omit<z.output<typeof TaskQuery>, 'page' | 'limit' | 'sort' | 'list'>;

export const TaskList = pageLimitBody('tasks', Task).meta({ id: 'TaskList' });
