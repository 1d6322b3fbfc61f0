import { type Page, type Slice } from '@platform/pagination/list';
import { NotFound } from '@platform/service-kit/problem';
import { v7 } from 'uuid';
import type { Context } from '../context.ts';
import type { ProjectInput, ProjectPatch } from './schema.ts';
import {
  deleteProject,
  findProject,
  findProjects,
  insertProject,
  updateProject,
  type Filter,
} from './queries.ts';

/** One page of projects as JSON text, in the order of their last change. */
export const listProjects = (ctx: Context, page: Page, filter: Filter): Promise<Slice<string>> =>
  findProjects(ctx.database, page, filter);

export const createProject = async (
  ctx: Context,
  project: ProjectInput,
): Promise<{ id: string; json: string }> => {
  const id = v7();
  return { id, json: await insertProject(ctx.database, id, project) };
};

/** The project as JSON text. Throws NotFound. */
export const getProject = async (ctx: Context, id: string): Promise<string> => {
  const json = await findProject(ctx.database, id);
  if (json === undefined) throw new NotFound('project');
  return json;
};

/** The changed project as JSON text. Throws NotFound. */
export const changeProject = async (ctx: Context, id: string, patch: ProjectPatch): Promise<string> => {
  const json = await updateProject(ctx.database, id, patch);
  if (json === undefined) throw new NotFound('project');
  return json;
};

/** Deletes the project and its deliverables. Throws NotFound. */
export const removeProject = async (ctx: Context, id: string): Promise<void> => {
  if (!(await deleteProject(ctx.database, id))) throw new NotFound('project');
};
