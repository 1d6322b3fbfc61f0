import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { csvLine } from '@platform/service-kit/csv';
import { setFixedHeaders } from '@platform/service-kit/respond';
import { stopCounting, withoutDeadline } from '@platform/service-kit/request-scope';
import { route, type Route } from '@platform/service-kit/route';
import { createFairSlots } from '@platform/service-kit/fair-slots';
import type { Sql } from 'postgres';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { Difference, sideFields } from './difference.ts';
import { differencesAfter, type DifferenceView } from './queries.ts';
import { ReconciliationPath } from './schema.ts';
import { getReconciliation } from './use-cases.ts';

const differenceFields = Difference.omit({ there: true, here: true }).keyof().options;
/** `line` is left out, because entries have none. */
const entryFields = sideFields.filter((field) => field !== 'line');

const headerLine = csvLine([
  ...differenceFields,
  ...sideFields.map((field) => `there.${field}`),
  ...entryFields.map((field) => `here.${field}`),
]);

const csvLineOf = (difference: DifferenceView): string =>
  csvLine([
    ...differenceFields.map((field) => difference[field] ?? ''),
    ...sideFields.map((field) => difference.there?.[field] ?? ''),
    ...entryFields.map((field) => difference.here?.[field] ?? ''),
  ]);

const jsonLineOf = (difference: DifferenceView): string => `${JSON.stringify(difference)}\n`;

const differencesPerRead = 1000;

/** The text of a file with all differences. Reads the next ones only when the consumer asks for them. */
async function* fileText(sql: Sql, id: string, extension: 'csv' | 'jsonl'): AsyncGenerator<string> {
  if (extension === 'csv') yield headerLine;
  const lineOf = extension === 'csv' ? csvLineOf : jsonLineOf;
  for (let after: number | undefined = 0; after !== undefined;) {
    const differences: DifferenceView[] = await differencesAfter(sql, id, after, differencesPerRead);
    after = differences.at(-1)?.number;
    // An empty text would end the stream.
    if (after !== undefined) yield differences.map(lineOf).join('');
  }
}

/** The maximum time between two pieces of an answer, as in the gateway. */
const idleMs = 15_000;

/**
 * Routes that download all differences as a file. The client decides how long a download takes, so it has no deadline and
 * does not count as a request in progress; otherwise slow clients would cause callbacks to be refused.
 */
export const fileRoutes = (context: Context): Route[] => {
  const withDownloadSlot = createFairSlots({
    max: 10,
    maxPerCaller: 2,
    code: 'too_many_downloads',
    detail: 'At most ten files are downloaded at a time, and two by one caller; try again later.',
  });
  const fileRoute = (extension: 'csv' | 'jsonl', summary: string, mediaType: string, body: z.ZodType) =>
    route(
      {
        method: 'get',
        path: `/v1/reconciliations/{reconciliationId}/differences.${extension}`,
        operationId: `downloadDifferences${extension === 'csv' ? 'Csv' : 'Jsonl'}`,
        tag: 'Reconciliation',
        summary,
        auth: context.tokens.guard('wallet:read'),
        params: ReconciliationPath,
        responses: {
          200: {
            description: 'The file',
            body,
            mediaType,
            headers: { 'Content-Disposition': 'Name of the file' },
          },
        },
        problems: [404],
      },
      async ({ params: { reconciliationId: id }, caller: { subject }, req, res }) => {
        await getReconciliation(context, id);
        await withDownloadSlot(subject, async () => {
          withoutDeadline(req);
          stopCounting(req.scope);
          res.setTimeout(idleMs, () => res.destroy());
          setFixedHeaders(req, res);
          res.setHeader('Content-Type', `${mediaType}; charset=utf-8`);
          res.setHeader('Content-Disposition', `attachment; filename="reconciliation-${id}.${extension}"`);
          // Node.js warns about more than ten listeners; `pipeline` adds seven to those of the log and of traces.
          res.setMaxListeners(20);
          await pipeline(Readable.from(fileText(context.database.sql, id, extension)), res);
        });
        return { status: 200, rawBody: '' };
      },
    );
  return [
    fileRoute('csv', 'Download differences as CSV', 'text/csv', z.string().meta({ example: headerLine })),
    fileRoute('jsonl', 'Download differences as JSON lines', 'application/x-ndjson', Difference),
  ];
};
