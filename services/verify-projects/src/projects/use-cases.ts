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
 * Maximum number of rows up to the end of a page, times clients, for reading it on the connections that all requests share:
 * the first page of the 20 clients that an API key may have.
 */
const maxSharedRows = 4000n;

/** One page of the projects of the clients. A late page, or one of many clients, may throw Unavailable (timeout, too busy). */
export const listProjects = (
  { database: { sql }, latePages }: Context,
  page: Page,
  query: ProjectQuery,
  clients: Clients,
): Promise<Slice<string>> => {
  if (clients === undefined) return findProjects(sql, page, query);
  const read = (on: ISql) => findProjectsOf(on, clients, page, query);
  const last = page.offset + BigInt(page.limit);
  return last * BigInt(clients.length) > maxSharedRows ? latePages.run(read) : read(sql);
};

/**
 * Throws a Problem (422 `language_not_in_project`) unless all `languages` of deliverables are among the target languages of
 * the project. A project without target languages allows any.
 */
export const requireLanguages = (languages: readonly string[], targets: readonly string[]): void => {
  const missing = languages.filter((language) => !targets.includes(language));
  if (targets.length === 0 || missing.length === 0) return;
  throw new Problem({
    status: 422,
    code: 'language_not_in_project',
    detail: `A deliverable is in ${missing.join(', ')}, but the target languages of the project are ${targets.join(', ')}.`,
  });
};

/**
 * Changes a locked project. Throws a Problem (422 `language_not_in_project`), and Conflict `client_has_keys` if holders of API
 * keys would lose the project from their list, but not from the copies that they keep up to date.
 */
export const changeProject = async (
  sql: Queries,
  { id, client }: ProjectDetails,
  patch: ProjectPatch,
): Promise<string> => {
  if (patch.target_languages) requireLanguages(await findLanguagesOf(sql, id), patch.target_languages);
  const losesProject = client !== null && patch.client !== undefined && patch.client !== client;
  if (losesProject && (await isKeyLimitedTo(sql, client)))
    throw new Conflict(
      'client_has_keys',
      `API keys limited to ${client} would not learn that the project has another client: archive it and create a new project.`,
    );
  return updateProject(sql, id, patch);
};
