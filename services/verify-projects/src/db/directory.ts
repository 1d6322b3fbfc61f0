import { directory } from '@platform/pagination/directory';
import { projects } from './tables.ts';

/**
 * The order of the project list and what it is narrowed by. Its tables, indexes and triggers are
 * migration 0003, the reading of pages is 0004; directory.test.ts compares them with this.
 */
export const projectDirectory = directory({
  at: projects.updated_at,
  id: projects.id,
  filters: [projects.status],
});
