import { NewTask, type Task } from './tasks/schema.ts';

const places = ['kitchen', 'garden', 'office', 'workshop', 'cellar'];
const jobs = ['Tidy', 'Paint', 'Measure', 'Repair', 'Photograph', 'Clear out'];
const statuses = ['todo', 'todo', 'in_progress', 'done'] as const;
const priorities = ['medium', 'low', 'high', 'medium', 'urgent'] as const;

const minute = 60_000;
const day = 24 * 60 * minute;

/** 30 tasks with fixed ids, created a minute apart until `now`; every fifth has no due date. */
export const demoTasks = (now: Date): Task[] =>
  jobs.flatMap((job, j) =>
    places.map((place, r) => {
      const n = j * places.length + r;
      const input = NewTask.parse({
        title: `${job} the ${place}`,
        description: `One of thirty things to try the service with: ${job.toLowerCase()} the ${place}.`,
        status: statuses[n % statuses.length],
        priority: priorities[n % priorities.length],
        dueDate: r === 4 ? null : new Date(now.getTime() + (n - 5) * day).toISOString().slice(0, 10),
        tags: [place, ...(j % 2 === 0 ? ['weekend'] : [])],
      });
      const id = `01900000-0000-7000-8000-${(0xd000 + n).toString(16).padStart(12, '0')}`;
      const createdAt = new Date(now.getTime() - (30 - n) * minute).toISOString();
      const completedAt = input.status === 'done' ? createdAt : null;
      return { ...input, id, completedAt, createdAt, updatedAt: createdAt, version: 1 };
    }),
  );

/** Five tasks of a list, due one day after the other from today on, for two members in turns; the last one is nobody's. */
export const sharedTasks = (now: Date, listId: string, assignees: readonly string[]): Task[] =>
  ['Buy bread', 'Water the plants', 'Call the plumber', 'Pick up the parcel', 'Plan the holiday'].map(
    (title, n) => {
      const dueDate = new Date(now.getTime() + n * day).toISOString().slice(0, 10);
      const assigneeId = n === 4 ? null : (assignees[n % assignees.length] ?? null);
      const input = NewTask.parse({ title, dueDate, listId, assigneeId, tags: ['household'] });
      const id = `01900000-0000-7000-8000-${(0xd110 + n).toString(16).padStart(12, '0')}`;
      const createdAt = new Date(now.getTime() - (5 - n) * minute).toISOString();
      return { ...input, id, completedAt: null, createdAt, updatedAt: createdAt, version: 1 };
    },
  );
