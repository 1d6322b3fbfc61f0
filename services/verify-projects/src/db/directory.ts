import { defineDirectory } from '@platform/pagination/directory';

/** The order and the filter of the project list. */
export const projectDirectory = defineDirectory({
  table: 'projects',
  key: ['updated_at', 'id'],
  filters: { status: 'text' },
});
