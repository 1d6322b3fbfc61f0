import { route, type Route } from '@platform/service-kit/route';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { Summary, SummaryFileQuery, SummaryQuery } from './schema.ts';
import { headerLine, pageSummary, summaryFile } from './use-cases.ts';

const tag = 'Audit';

/** Routes of the account summary, for bookkeeping. */
export const summaryRoutes = (context: Context): Route[] => {
  const reader = context.tokens.guard('wallet:read');
  return [
    route(
      {
        method: 'get',
        path: '/v1/audit/summary',
        operationId: 'readSummary',
        tag,
        summary: 'Get the account summary by day',
        description: 'Omits rows that have no entries and a closing of 0.00.',
        auth: reader,
        query: SummaryQuery,
        responses: { 200: { description: 'A page', body: Summary } },
      },
      async ({ query }) => ({ status: 200, body: await pageSummary(context, query) }),
    ),
    route(
      {
        method: 'get',
        path: '/v1/audit/summary.csv',
        operationId: 'downloadSummary',
        tag,
        summary: 'Download the account summary as CSV',
        auth: reader,
        query: SummaryFileQuery,
        responses: {
          200: {
            description: 'A header line, then a line for each row',
            body: z.string().meta({ example: headerLine }),
            mediaType: 'text/csv',
            headers: { 'Content-Disposition': 'Name of the file' },
          },
        },
        problems: [422],
      },
      async ({ query }) => ({
        status: 200,
        headers: {
          'Content-Type': 'text/csv; charset=utf-8',
          'Content-Disposition': `attachment; filename="summary-${query.from}-${query.to}.csv"`,
        },
        rawBody: await summaryFile(context, query),
      }),
    ),
  ];
};
