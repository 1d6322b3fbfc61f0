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
/** PostgreSQL has no year 0. */
const day = z.iso
  .date()
  .refine((date) => !date.startsWith('0000'), 'must be a date from year 1 onwards')
  .meta({ example: '2026-02-28' });

/** From year 1 onwards, as a day. */
const time = instant().refine((at) => !at.startsWith('0000'), 'must be a time from year 1 onwards');

const hour = 3_600_000;

interface Due {
  dueDate?: string | null | undefined;
  dueAt?: string | null | undefined;
}

/** A due time stands beside the day that it has where the user is: in a time zone from UTC-12 to UTC+14. */
const requireDay = ({ dueDate, dueAt }: Due, context: z.RefinementCtx): void => {
  if (typeof dueAt !== 'string') return;
  const path = ['dueAt'];
  if (typeof dueDate !== 'string') {
    context.addIssue({ code: 'custom', path, message: 'must come with its dueDate' });
    return;
  }
  const sinceMidnight = Date.parse(dueAt) - Date.parse(dueDate);
  if (sinceMidnight < -14 * hour || sinceMidnight >= 36 * hour)
    context.addIssue({ code: 'custom', path, message: 'must be on the dueDate in some time zone' });
};

const userOrList = z.guid('must be a UUID').toLowerCase();
const assignee = userOrList.nullable().meta({ description: 'The userId of a member of the list' });

export const Task = z
  .object({
    id: z.uuid(),
    title: z.string(),
    description: z.string(),
    status,
    priority,
    dueDate: z.iso.date().nullable(),
    dueAt: instant().nullable().meta({ description: 'A time on the due date; null: any time' }),
    tags: z.array(z.string()),
    listId: z.uuid().nullable().meta({ description: 'The list that it is in; null: your own' }),
    assigneeId: z.uuid().nullable().meta({ description: 'A member of the list' }),
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
    dueAt: time.nullable().default(null).meta({ description: 'A time on the due date, which must be there' }),
    tags: tags.default([]),
    listId: userOrList
      .nullable()
      .default(null)
      .meta({ description: 'A list that you may change; it cannot be changed later' }),
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
      .meta({ description: 'null empties it' }),
    status: status.optional(),
    priority: priority.optional(),
    dueDate: day.nullable().optional().meta({ description: 'Another day or null removes the time, too' }),
    dueAt: time.nullable().optional().meta({ description: 'Comes with its dueDate; null removes it' }),
    tags: tags
      .nullable()
      .transform((all) => all ?? [])
      .optional()
      .meta({ description: 'Replaces all tags; null removes them' }),
    assigneeId: assignee.optional(),
  })
  .superRefine(requireDay)
  .meta({ id: 'TaskPatch', description: 'A JSON Merge Patch (RFC 7396): absent fields stay as they are' });

export type TaskPatch = z.output<typeof TaskPatch>;

const statuses = z
  .string()
  .regex(
    /^(?:todo|in_progress|done)(?:,(?:todo|in_progress|done))*$/,
    `must be one or more of ${status.options.join('|')}`,
  )
  .transform((list) => list.split(','))
  .refine((all) => new Set(all).size === all.length, 'must not repeat a status')
  .meta({ description: 'One or more, separated by commas', example: 'todo,in_progress' });

const fields = ['createdAt', 'updatedAt', 'dueDate', 'priority', 'title'] as const;
const sorts = fields.flatMap((field) => [field, `-${field}`] as const);

export const TaskQuery = z.strictObject({
  ...pageLimitQuery,
  status: statuses.optional(),
  priority: priority.optional().meta({ description: 'Tasks of this priority' }),
  tag: tag.optional().meta({ description: 'Tasks with this tag' }),
  dueBefore: day.optional().meta({ description: 'Tasks due before this day' }),
  dueAfter: day.optional().meta({ description: 'Tasks due after this day' }),
  list: userOrList.optional().meta({ description: 'Tasks of this list; your own unless given' }),
  assignee: userOrList.optional().meta({ description: 'Tasks of this member of the list' }),
  due: z.enum(['today', 'overdue', 'week']).optional().meta({
    description: 'Due today, before now and not done, or within the seven days from today on',
  }),
  tz: text(1, 64).optional().meta({
    description: 'IANA time zone in which `due` reads the days; UTC unless given',
    example: 'Europe/Berlin',
  }),
  q: text(1, 200).optional().meta({
    description: 'Beginnings of words that must all occur in the title or description',
  }),
  sort: z.enum(sorts).default('-createdAt').meta({
    description: 'Field to sort by, `-` for descending; equal tasks by id, tasks without a due date last',
  }),
});

export type Sort = z.output<typeof TaskQuery>['sort'];
export type Filters = Omit<z.output<typeof TaskQuery>, 'page' | 'limit' | 'sort' | 'list'>;

export const TaskList = pageLimitBody('tasks', Task).meta({ id: 'TaskList' });
