import { NotFound } from '@platform/service-kit/problem';
import type { Context } from '../context.ts';
import type { DeliverableInput, DeliverablePatch } from './schema.ts';
import {
  deleteDeliverable,
  findDeliverable,
  findDeliverables,
  insertDeliverable,
  updateDeliverable,
  type Place,
} from './queries.ts';

/** All deliverables of a project as JSON text. Throws NotFound. */
export const listDeliverables = async (ctx: Context, projectId: string): Promise<string[]> => {
  const found = await findDeliverables(ctx.database, projectId);
  if (found === undefined) throw new NotFound('project');
  return found;
};

/** As JSON text. Throws NotFound. */
export const getDeliverable = async (ctx: Context, place: Place): Promise<string> => {
  const json = await findDeliverable(ctx.database, place);
  if (json === undefined) throw new NotFound('deliverable');
  return json;
};

/** Like every change of a deliverable, this updates updated_at of its project. Throws NotFound. */
export const createDeliverable = async (
  ctx: Context,
  projectId: string,
  deliverable: DeliverableInput,
): Promise<{ id: string; json: string }> => {
  const stored = await insertDeliverable(ctx.database, projectId, deliverable);
  if (stored === undefined) throw new NotFound('project');
  return stored;
};

/** Throws NotFound. */
export const changeDeliverable = async (
  ctx: Context,
  place: Place,
  patch: DeliverablePatch,
): Promise<string> => {
  const json = await updateDeliverable(ctx.database, place, patch);
  if (json === undefined) throw new NotFound('deliverable');
  return json;
};

/** Throws NotFound. */
export const removeDeliverable = async (ctx: Context, place: Place): Promise<void> => {
  if (!(await deleteDeliverable(ctx.database, place))) throw new NotFound('deliverable');
};
