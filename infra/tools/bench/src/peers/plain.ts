/**
 * The plain service of `pnpm bench peers`: the measured requests as a good developer writes them in an afternoon, with
 * the packages that the services use. One transaction a request, OFFSET and count, a ready-made queue. Input is
 * validated, signatures and tokens are checked, statements are prepared, connections are pooled and kept open. It has
 * no log, metrics, rate limits, sessions or audit, and any number of requests may wait.
 */
/* oxlint-disable oxc/no-async-endpoint-handlers -- Express 5 catches what a handler rejects with. */
import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import express, { type NextFunction, type Request, type Response } from 'express';
import { Logger, run } from 'graphile-worker';
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import postgres from 'postgres';
import { z } from 'zod';

export interface PlainSettings {
  databaseUrl: string;
  hmacSecret: string;
  jwks: JSONWebKeySet;
  issuer: string;
  audience: string;
}

const settings = JSON.parse(process.argv[2] ?? '') as PlainSettings;
const { databaseUrl, hmacSecret, jwks, issuer, audience } = settings;
const sql = postgres(databaseUrl, { max: 20, transform: { column: { from: postgres.toCamel } } });
const keys = createLocalJWKSet(jwks);
const app = express().disable('x-powered-by');
app.use(express.raw({ type: 'application/json', limit: '1mb' }));

/** An error that Express answers with this status. */
const httpError = (status: number) => Object.assign(new Error(`status ${status}`), { status });

const authenticate = async (req: Request) => {
  const token = req.get('Authorization')?.replace('Bearer ', '') ?? '';
  const verified = await jwtVerify(token, keys, { issuer, audience }).catch(() => undefined);
  if (verified === undefined) throw httpError(401);
  return verified.payload;
};

const verifySignature = (req: Request, body: Buffer): void => {
  const [timestamp, signature] = [req.get('X-Timestamp') ?? '', req.get('X-HMAC-SHA256') ?? ''];
  const expected = createHmac('sha256', hmacSecret).update(timestamp).update(req.path).update(body).digest();
  const received = Buffer.from(signature, 'hex');
  if (received.length !== expected.length || !timingSafeEqual(expected, received)) throw httpError(401);
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 3600) throw httpError(401);
};

const id = z.string().min(1).max(100);
const amount = z.string().regex(/^\d{1,13}(\.\d{1,2})?$/);
const Debit = z.object({ requestId: id, playerId: id, transactionId: id, roundId: id, gameCode: id, amount });
type Debit = z.output<typeof Debit>;

/** Returns the balance in cents afterwards, or undefined when it is too low. */
const bookDebit = ({ playerId, transactionId, roundId, gameCode, ...debit }: Debit) =>
  sql.begin(async (tx) => {
    const cents = Math.round(Number(debit.amount) * 100);
    const [booked] = await tx`select balance_after from entries where transaction_id = ${transactionId}`;
    if (booked !== undefined) return Number(booked['balanceAfter']);
    const [player] = await tx`
      update players set balance = balance - ${cents} where player_id = ${playerId} and balance >= ${cents}
      returning balance`;
    if (player === undefined) return undefined;
    await Promise.all([
      tx`insert into rounds (player_id, round_id, game_code) values (${playerId}, ${roundId}, ${gameCode})
        on conflict do nothing`,
      tx`insert into entries (transaction_id, player_id, round_id, amount, balance_after)
        values (${transactionId}, ${playerId}, ${roundId}, ${-cents}, ${player['balance']})`,
    ]);
    return Number(player['balance']);
  });

app.post('/callback/debit', async (req, res) => {
  const body = req.body as Buffer;
  verifySignature(req, body);
  const debit = Debit.parse(JSON.parse(body.toString()));
  const balance = await bookDebit(debit);
  const status = balance === undefined ? 'ERROR_INSUFFICIENT_FUNDS' : 'OK';
  res.json({ requestId: debit.requestId, status, balance: balance && (balance / 100).toFixed(2) });
});

const Item = z.object({ productId: id, productName: z.string(), quantity: z.number(), price: z.number() });
const cart = z.object({ total: z.number(), items: z.array(Item) });
const Order = z.object({ id, orderNo: z.string(), status: z.string(), consumerId: z.string(), cart });

app.post('/api/v1/hooks/order_updated/:token', async (req, res) => {
  const body = req.body as Buffer;
  const [store] = await sql`select id from stores where token = ${req.params.token}`;
  if (store === undefined) throw httpError(404);
  const digest = createHash('sha256').update(body).digest();
  // One statement, so one transaction: an event is stored once, and its job with it.
  await sql`
    with stored as (
      insert into events (store_id, digest, id, body)
      values (${store['id']}, ${digest}, ${randomUUID()}, ${body.toString()}::text::jsonb)
      on conflict do nothing returning id)
    select graphile_worker.add_job('process', json_build_object('id', id)) from stored`;
  res.json({ received: true });
});

const processEvent = async (payload: unknown): Promise<void> => {
  const { id: eventId } = z.object({ id: z.uuid() }).parse(payload);
  await sql.begin(async (tx) => {
    const [event] = await tx`select store_id, body from events where id = ${eventId} for update`;
    const { id: orderId, status, consumerId, ...details } = Order.parse(event?.['body']);
    await Promise.all([
      tx`insert into orders (store_id, id, status, consumer_id, details)
        values (${event?.['storeId']}, ${orderId}, ${status}, ${consumerId}, ${tx.json(details)})
        on conflict (store_id, id) do update set status = excluded.status, consumer_id = excluded.consumer_id,
          details = excluded.details, updated_at = now()`,
      tx`update events set processed_at = now() where id = ${eventId}`,
    ]);
  });
};

const integer = (min: number, max: number, fallback: number) =>
  z.coerce.number().int().min(min).max(max).default(fallback);
const Slice = z.object({ Skip: integer(0, 1e9, 0), Take: integer(0, 1000, 100) });
const Page = z.object({ page: integer(1, 1e9, 1), limit: integer(1, 100, 20) });
const IndexedPage = z.object({ PageIndex: integer(0, 1e9, 0), PageSize: integer(1, 500, 25) });

app.get('/v1/quests/:questId/questions', async (req, res) => {
  const { Skip, Take } = Slice.parse(req.query);
  const questions = await sql`
    select question_id, order_number, type, presentation, titles, alternatives from questions
    where quest_id = ${z.uuid().parse(req.params.questId)} order by order_number limit ${Take} offset ${Skip}`;
  if (questions.length === 0 && Skip === 0) throw httpError(404);
  res.json(questions);
});

app.get('/api/v1/tasks', async (req, res) => {
  const { sub = '' } = await authenticate(req);
  const { page, limit } = Page.parse(req.query);
  const tasks = await sql`
    select id, title, description, status, priority, due_date::text, tags, completed_at, created_at, updated_at, version
    from tasks where owner_id = ${sub} order by created_at desc, id limit ${limit + 1} offset ${(page - 1) * limit}`;
  res.json({ tasks: tasks.slice(0, limit), page: { number: page, has_more: tasks.length > limit, limit } });
});

app.get('/v1/consignments', async (req, res) => {
  const { scope } = await authenticate(req);
  if (!String(scope).split(' ').includes('consignments:read')) throw httpError(403);
  const { PageIndex, PageSize } = IndexedPage.parse(req.query);
  // One snapshot, so that the total is that of the page.
  const [consignments, [counted]] = await sql.begin('isolation level repeatable read read only', (tx) =>
    Promise.all([
      tx`select * from consignments order by created_at desc, id desc limit ${PageSize} offset ${PageIndex * PageSize}`,
      tx`select count(*)::int as total from consignments`,
    ]),
  );
  res.json({ index: PageIndex, total: counted?.['total'], consignments });
});

app.use((error: unknown, _req: Request, _res: Response, next: NextFunction) => {
  next(error instanceof z.ZodError ? httpError(400) : error);
});

await run({
  connectionString: databaseUrl,
  taskList: { process: processEvent },
  // The default logger prints a line for each job.
  logger: new Logger(() => () => undefined),
  // Jobs are fetched and completed in batches, as the guide of graphile-worker recommends for many short jobs.
  preset: {
    worker: { concurrentJobs: 10, localQueue: { size: 200 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 },
  },
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
