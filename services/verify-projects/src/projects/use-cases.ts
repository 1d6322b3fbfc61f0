import { pageListJson, pageOf } from '@platform/pagination/list';
import { Conflict } from '@platform/service-kit/problem';
import type { Queries } from '@platform/service-kit/record';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { deleteProject, findProject, findProjects, insertProject, updateProject } from './queries.ts';
import type { ProjectPatch, ProjectQuery } from './schema.ts';

interface OneProject {
  params: { id: string };
}

/** How long a project stays archived, so that clients that follow changes learn of it. */
const archivedDays = 30;

/** What `record()` does with projects. */
export const projectsOf = ({ database: { sql } }: Context) => ({
  page: async (query: z.output<typeof ProjectQuery>) => {
    const page = pageOf(query);
    return pageListJson('projects', page, await findProjects(sql, page, query));
  },
  find: (on: Queries, { params: { id } }: OneProject, lock: boolean) => findProject(on, id, lock),
  insert: insertProject,
  save: (on: Queries, patch: ProjectPatch, { params: { id } }: OneProject) => updateProject(on, id, patch),
  /** Deletes its deliverables as well. Throws Conflict `not_archived`. */
  remove: async (
    on: Queries,
    { params: { id }, query: { force } }: OneProject & { query: { force: boolean } },
  ) => {
    if (await deleteProject(on, id, force ? 0 : archivedDays)) return;
    throw new Conflict(
      'not_archived',
      `Clients learn of a project's end when it is archived: archive it ${archivedDays} days before, or add force=true.`,
    );
  },
});
