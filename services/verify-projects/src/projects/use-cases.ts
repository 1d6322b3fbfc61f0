import type { Page, Slice } from '@platform/pagination/list';
import { Conflict, Problem } from '@platform/service-kit/problem';
import type { Queries } from '@platform/service-kit/record';
import type { ISql } from 'postgres';
import { isKeyLimitedTo } from '../api-keys/use-cases.ts';
import type { Context } from '../context.ts';
import type { Clients } from '../reader.ts';
import { findProjects, findProjectsOf, findLanguagesOf, updateProject } from './queries.ts';
import type { ProjectDetails, ProjectPatch, ProjectQuery } from './schema.ts';

/**
 * Rows up to the end of a page, times the clients, up to which it is read on the connections that all requests share: the
 * first page of the 20 clients that an API key may have.
 */
const mostRead = 4000n;

/** One page of the projects of the clients. Throws Unavailable `query_timeout` and `too_busy` for a late page, or one of many clients. */
export const listProjects = (
  { database: { sql }, latePages }: Context,
  page: Page,
  query: ProjectQuery,
  clients: Clients,
): Promise<Slice<string>> => {
  if (clients === undefined) return findProjects(sql, page, query);
  const read = (on: ISql) => findProjectsOf(on, clients, page, query);
  const last = page.offset + BigInt(page.limit);
  return last * BigInt(clients.length) > mostRead ? latePages.run(read) : read(sql);
};

/**
 * Throws a Problem (422 `language_not_in_project`) unless a project with these target languages can have deliverables in
 * these languages: any if it names none.
 */
export const requireTargets = (languages: readonly string[], targets: readonly string[]): void => {
  const missing = languages.filter((language) => !targets.includes(language));
  if (targets.length === 0 || missing.length === 0) return;
  throw new Problem({
    status: 422,
    code: 'language_not_in_project',
    detail: `A deliverable is in ${missing.join(', ')}, but the target languages of the project are ${targets.join(', ')}.`,
  });
};

/**
 * Changes a project that is locked. Throws a Problem (422 `language_not_in_project`), and Conflict `client_has_keys` where
 * holders of API keys would lose a project from their list, but not from the copies that they keep up to date.
 */
export const changeProject = async (
  sql: Queries,
  { id, client }: ProjectDetails,
  patch: ProjectPatch,
): Promise<string> => {
  if (patch.target_languages) requireTargets(await findLanguagesOf(sql, id), patch.target_languages);
  const isTaken = client !== null && patch.client !== undefined && patch.client !== client;
  if (isTaken && (await isKeyLimitedTo(sql, client)))
    throw new Conflict(
      'client_has_keys',
      `API keys limited to ${client} would not learn that the project has another client: archive it, and create a new one.`,
    );
  return updateProject(sql, id, patch);
};
