import { readPageList } from '@platform/pagination/list';
import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { listRefusals } from './queries.ts';
import type { RefusalList, RefusalQuery } from './schema.ts';

export const pageRefusals = (
  { database: { sql } }: Context,
  query: z.output<typeof RefusalQuery>,
): Promise<z.input<typeof RefusalList>> =>
  readPageList('refusals', query, (page) => listRefusals(sql, query, page));
