import type { IncomingMessage } from 'node:http';
import type { TransactionSql } from 'postgres';
import { Problem, problemBody } from '../http/problem.ts';
import { route, type Route } from '../http/route.ts';
import { createConnectionQueue, runInSlot } from '../overload/connection-queue.ts';
import { oneAtATime } from '../overload/one-at-a-time.ts';
import { batchSchemas } from './batch-schema.ts';
import type { Operation } from './record-spec.ts';
import { idempotencyKeyHeader, idempotencyKeyOf, withIdempotencyKey } from './idempotency.ts';
import { lockTargetOf, saveChanges, type AnyRecordSpec, type Shared } from './shared.ts';
import { lockExpected, noStore } from './versions.ts';

const maxBodyBytes = 2 * 2 ** 20;
/** Maximum number of values in all operations together. */
const maxValues = 10_000;

/** All batches of this process share few slots, because each may keep the database busy for seconds. */
const batchQueue = createConnectionQueue({ slots: 3, maxWaiting: 100, maxWaitMs: 10_000 });

/** The body of a batch. */
interface Batch {
  operations: readonly Operation[];
  /** Whether to do all operations or none. */
  atomic: boolean;
}

interface Sender {
  req: IncomingMessage;
  caller: { subject: string };
}

/** The result of an operation as JSON text. `json`: the record, as PostgreSQL wrote it. */
const resultOf = (status: number, field: string, json?: string): string =>
  `{"status":${status}${json === undefined ? '' : `,${JSON.stringify(field)}:${json}`}}`;

const batchRefused = (operation: number, problem: Problem): Problem =>
  new Problem({
    status: 409,
    code: 'batch_refused',
    detail: `Operation ${operation} was refused, so none was done: ${problem.message}`,
    members: { operation, problem: problemBody(problem) },
  });

/**
 * Creates the route for many operations of a record in one request and one transaction. Each operation calls the same functions
 * as its own route. They throw a Problem before they write, so a refused operation leaves no changes, and the others continue
 * unless the batch is atomic. A database error rolls all operations back.
 */
export const batchRoute = (
  spec: AnyRecordSpec,
  shared: Shared,
  batch: NonNullable<AnyRecordSpec['batch']>,
): Route => {
  const { path, tag, name, write, sql, create, change, remove, committed } = spec;
  const { noun, field, idName } = shared;
  if (create === undefined || change === undefined || remove === undefined || idName === undefined)
    throw new Error(`${name}: a batch creates, changes and deletes records with an id`);
  const { body, results, example } = batchSchemas(spec, shared, { create, change, idName });

  /** Runs one operation and returns its result. Adds changed records to `changed`, for `committed`. */
  const runOperation = async (
    tx: TransactionSql,
    operation: Operation,
    { req, caller }: Sender,
    changed: { params: Record<string, unknown>; caller: { subject: string } }[],
  ): Promise<string> => {
    if (operation.op === 'create') {
      const { json } = await create.insert(tx, operation[field] as object, { params: {}, caller });
      return resultOf(201, field, json);
    }
    const target = { params: { [idName]: operation.id }, caller };
    const current = await lockExpected(
      tx,
      lockTargetOf(spec, shared, { ...target, req, expected: operation.ifMatch }),
    );
    if (operation.op === 'delete') {
      await remove.delete(tx, { ...target, query: {} });
      changed.push(target);
      return resultOf(204, field);
    }
    const patch = operation[field] as object;
    const { json, isChanged } = await saveChanges(change, tx, { ...target, req, patch, current });
    if (isChanged) changed.push(target);
    return resultOf(200, field, json);
  };

  return route(
    {
      method: 'post',
      path: `${path}/batch`,
      operationId: `batch${noun}s`,
      tag,
      summary: `Create, change and delete several ${name}s`,
      description:
        'Each operation is done as by a single request, has its own result in `results`, and counts as one request for the rate ' +
        'limit. An invalid body is refused as a whole. With `atomic`, all operations are refused if one is: 409 ' +
        '`batch_refused`.',
      auth: write,
      headers: idempotencyKeyHeader,
      body: {
        schema: body,
        example,
        limit: maxBodyBytes,
        maxValues,
        requests: ({ operations }) => operations.length,
      },
      responses: { 200: { description: 'A result for each operation, in the same order', body: results } },
      problems: [409, 422],
    },
    async ({ body: sent, req, caller }) => {
      const { operations, atomic } = sent as unknown as Batch;
      const changed: Parameters<typeof runOperation>[3] = [];
      const runAll = async (tx: TransactionSql): Promise<string> => {
        await batch.lock(tx, operations, caller);
        const operationResults: string[] = [];
        for (const [index, operation] of operations.entries())
          operationResults.push(
            await runOperation(tx, operation, { req, caller }, changed).catch((error: unknown) => {
              if (!(error instanceof Problem) || error.status >= 500) throw error;
              if (atomic) throw batchRefused(index, error);
              return JSON.stringify({ status: error.status, problem: problemBody(error) });
            }),
          );
        return `{"results":[${operationResults.join(',')}]}`;
      };
      const key = idempotencyKeyOf(req);
      const request = { path: `${path}/batch`, body: sent };
      // One batch of a caller at a time, because each holds a connection for as long as many requests.
      const sequenceKey = { name: `batch of ${name}s`, params: {}, caller: caller.subject };
      const { keep } = create;
      const store = () => withIdempotencyKey(sql, { owner: caller.subject, key, request, keep }, runAll);
      const rawBody = await oneAtATime(sql, sequenceKey, () => runInSlot(batchQueue, store));
      for (const target of changed) await committed?.(target);
      return { status: 200, headers: noStore, rawBody };
    },
  );
};
