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

const own = Difference.omit({ there: true, here: true }).keyof().options;
// Our entries have no line.
const ofEntry = sideFields.slice(1);

const headerLine = csvLine([
  ...own,
  ...sideFields.map((field) => `there.${field}`),
  ...ofEntry.map((field) => `here.${field}`),
]);

const csvOf = (difference: DifferenceView): string =>
  csvLine([
    ...own.map((field) => difference[field] ?? ''),
    ...sideFields.map((field) => difference.there?.[field] ?? ''),
    ...ofEntry.map((field) => difference.here?.[field] ?? ''),
  ]);

const jsonOf = (difference: DifferenceView): string => `${JSON.stringify(difference)}\n`;

const atOnce = 1000;

/** All differences as a file, in portions that are read when they are taken. */
async function* fileOf(sql: Sql, id: string, extension: 'csv' | 'jsonl'): AsyncGenerator<string> {
  if (extension === 'csv') yield headerLine;
  for (let after: number | undefined = 0; after !== undefined;) {
    const differences: DifferenceView[] = await differencesAfter(sql, id, after, atOnce);
    after = differences.at(-1)?.number;
    // An empty text would end the stream.
    if (after !== undefined) yield differences.map(extension === 'csv' ? csvOf : jsonOf).join('');
  }
}

/** The gateway waits as long between two pieces of an answer. */
const idleMs = 15_000;

/**
 * All differences as a file, which is written while they are read. A download takes as long as its reader, so it has no
 * deadline and does not count as a request in progress: slow readers must not have callbacks refused.
 */
export const fileRoutes = (context: Context): Route[] => {
  const withPlace = createFairSlots({
    max: 10,
    maxPerCaller: 2,
    code: 'too_many_downloads',
    detail: 'Ten files are being downloaded, or two by this caller; try again later.',
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
            headers: { 'Content-Disposition': 'The name of the file' },
          },
        },
        problems: [404],
      },
      async ({ params: { reconciliationId: id }, caller: { subject }, req, res }) => {
        await getReconciliation(context, id);
        await withPlace(subject, async () => {
          withoutDeadline(req);
          stopCounting(req.scope);
          res.setTimeout(idleMs, () => res.destroy());
          setFixedHeaders(req, res);
          res.setHeader('Content-Type', `${mediaType}; charset=utf-8`);
          res.setHeader('Content-Disposition', `attachment; filename="reconciliation-${id}.${extension}"`);
          // `pipeline` alone adds seven listeners for `close`: beside those of the log and of traces more than Node.js expects.
          res.setMaxListeners(20);
          await pipeline(Readable.from(fileOf(context.database.sql, id, extension)), res);
        });
        return { status: 200, rawBody: '' };
      },
    );
  return [
    fileRoute('csv', 'All differences as CSV', 'text/csv', z.string().meta({ example: headerLine })),
    fileRoute('jsonl', 'All differences, one JSON object a line', 'application/x-ndjson', Difference),
  ];
};
