/** The fields of a project that a copy of the list needs. */
export interface Copied {
  id: string;
  updated_at: string;
}

interface PageBody<T> {
  projects: T[];
  page: { has_more: boolean };
}

/** Reads one page; the query has no question mark. */
export type ReadPage<T> = (query: string) => Promise<PageBody<T>>;

/**
 * How docs/verify-projects.md tells a client to follow changes: after each page go on from the highest
 * updated_at seen, and turn the page only where a whole page shares one. Gives that time; keeps the
 * latest of each project in `copy`.
 */
export const sync = async <T extends Copied>(
  read: ReadPage<T>,
  copy: Map<string, T>,
  since: string | undefined,
  limit: number,
): Promise<string | undefined> => {
  let page = 1;
  for (let seen = since; ;) {
    const from = seen === undefined ? '' : `&modified_after=${seen}`;
    const { projects, page: about } = await read(`limit=${limit}&page=${page}${from}`);
    for (const project of projects) copy.set(project.id, project);
    const last = projects.at(-1)?.updated_at ?? seen;
    page = last === seen ? page + 1 : 1;
    seen = last;
    if (!about.has_more) return seen;
  }
};
