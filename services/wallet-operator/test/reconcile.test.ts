import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { jsonLines } from '@platform/wallet-conformance/game-server/statement';
import { runConformance } from './conformance-program.ts';
import { addGame, addPlayer } from './factories.ts';
import { keys, secret, startService } from './harness.ts';
import { lineOf } from './reconciliations.ts';

const run = async (...args: string[]): Promise<{ code: number; output: string }> => {
  const { code, stdout, stderr } = await runConformance('reconcile', ...args);
  return { code, output: stdout + stderr };
};

test('the program finds the mistakes in a statement of the stand-in game server, repairs what it can and saves the rest', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  await addGame(sql);
  const playerId = await addPlayer(sql);
  const folder = await mkdtemp(join(tmpdir(), 'reconcile-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const statement = join(folder, 'statement.jsonl');
  const from = new Date().toISOString();
  const of = ['--url', service.url, '--secret', secret, '--player', playerId, '--rounds', '40'];
  const played = await runConformance(
    'game-server',
    ...of,
    '--statement',
    statement,
    '--statement-faults',
    '1',
  );
  expect(played.code, played.stderr).toBe(0);
  const { faults } = JSON.parse(played.stdout.trim().split('\n').at(-1) ?? '') as { faults: unknown[] };
  const token = await keys.token({ scope: 'wallet:admin wallet:read' });
  const out = join(folder, 'differences.csv');
  const given = ['--url', service.url, '--token', token, '--from', from, '--to', new Date().toISOString()];
  const found = await run(statement, ...given, '--dry-run', '--out', out);
  expect(found.output).toContain(`differences: ${faults.length}\n`);
  expect(found.output).toContain('missing_here: ');
  // The game server has to correct the rest, but the dry run was made.
  expect(found.code).toBe(0);
  const dryRun = /^dry run: (.+)$/m.exec(found.output)?.[1] ?? '';
  const access = ['--url', service.url, '--token', token];
  const approver = await keys.token({ scope: 'wallet:approve', sub: 'bob' });
  const applied = async (...options: string[]) =>
    (await run(dryRun, ...access, '--apply', ...options)).output;
  expect(await applied('--max-amount', '0.01')).toMatch(/^409: .*maxAmount.*0\.01/);
  const asBob = [dryRun, '--url', service.url, '--token', approver, '--approve'];
  expect((await run(...asBob)).output).toContain('approved by bob\n');
  expect(await applied()).toContain('apply, applied, OK');
  const [header, ...lines] = (await readFile(out, 'utf8')).trimEnd().split('\r\n');
  expect(header).toContain('number,kind,playerId,transactionId,repair,state');
  expect(lines).toHaveLength(faults.length);
});

test('the program names the first differences, and says in one line what is wrong', async () => {
  await using service = await startService();
  const playerId = await addPlayer(service.context.database.sql);
  const folder = await mkdtemp(join(tmpdir(), 'reconcile-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const time = new Date(Date.now() - 60_000).toISOString();
  await writeFile(join(folder, 'statement.jsonl'), jsonLines([lineOf({ playerId, time })]));
  const token = await keys.token({ scope: 'wallet:admin wallet:read' });
  const reconcile = (file: string, to: Date) => {
    const given = ['--url', service.url, '--token', token, '--from', time, '--to', to.toISOString()];
    return run(join(folder, file), ...given);
  };
  const compared = await reconcile('statement.jsonl', new Date());
  expect(compared.output).toContain(`of player ${playerId}: statement debit 1.00 EUR, ledger nothing\n`);
  const refused = await reconcile('statement.jsonl', new Date(Date.now() + 3_600_000));
  expect(refused.output).toMatch(/^400: .*future.*\n$/);
  const missing = await reconcile('other.jsonl', new Date());
  expect(missing.output).toMatch(/^ENOENT: .*other\.jsonl'\n$/);
});

/** Passes requests on to a service; refuses every second one except statements, as under overload. */
const overloaded = async (target: string): Promise<string> => {
  let requests = 0;
  const server = createServer((req, res) => {
    const pass = async (): Promise<void> => {
      const body = await buffer(req);
      const { method = '', url = '', headers } = req;
      const { authorization = '', 'content-type': type = '' } = headers;
      if (type !== 'application/x-ndjson' && requests++ % 2 === 0)
        return void res.writeHead(503, { 'Retry-After': '0' }).end();
      const sent = { Authorization: authorization, 'Content-Type': type };
      const answer = await fetch(target + url, { method, headers: sent, ...(method === 'POST' && { body }) });
      res.writeHead(answer.status).end(await answer.text());
    };
    void pass();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

test('the program takes each bet before it pays the win, also when they are hundreds of differences apart and the service is overloaded', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  await addGame(sql);
  const playerId = await addPlayer(sql);
  const folder = await mkdtemp(join(tmpdir(), 'reconcile-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const statement = join(folder, 'statement.jsonl');
  const end = Date.now();
  const line = (operation: 'debit' | 'credit', round: number, secondsAgo: number) =>
    lineOf({
      playerId,
      operation,
      transactionId: `${operation}-${round}`,
      roundId: `r-${round}`,
      roundClosed: operation === 'credit' ? true : '',
      time: new Date(end - secondsAgo * 1000).toISOString(),
    });
  const rounds = Array.from({ length: 101 }, (_, round) => round);
  // The newest first: all wins come before the bets.
  const lines = [
    ...rounds.map((round) => line('credit', round, 10)),
    ...rounds.map((round) => line('debit', round, 20)),
  ];
  await writeFile(statement, jsonLines(lines));
  const token = await keys.token({ scope: 'wallet:admin wallet:read' });
  const period = ['--from', new Date(end - 60_000).toISOString(), '--to', new Date(end).toISOString()];
  const url = await overloaded(service.url);
  const access = ['--url', url, '--token', token];
  const tried = await run(statement, ...access, ...period, '--dry-run');
  const dryRun = /^dry run: (.+)$/m.exec(tried.output)?.[1] ?? tried.output;
  const repaired = await run(dryRun, ...access, '--apply');
  expect(repaired.code, repaired.output).toBe(0);
  const [sums] =
    await sql`select count(*)::int as entries, sum(amount)::int as sum from entries where round_id is not null`;
  expect(sums).toEqual({ entries: 202, sum: 0 });
});

test('a dry run reaches repairs that come after 1,000 that are refused', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  await addGame(sql);
  const playerId = await addPlayer(sql);
  const folder = await mkdtemp(join(tmpdir(), 'reconcile-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const statement = join(folder, 'statement.jsonl');
  const end = Date.now();
  const time = new Date(end - 20_000).toISOString();
  const tooLarge = Array.from({ length: 1000 }, () => lineOf({ playerId, amount: '99999999.00', time }));
  await writeFile(
    statement,
    jsonLines([...tooLarge, lineOf({ playerId, time: new Date(end - 10_000).toISOString() })]),
  );
  const token = await keys.token({ scope: 'wallet:admin wallet:read' });
  const period = ['--from', new Date(end - 60_000).toISOString(), '--to', new Date(end).toISOString()];
  const options = ['--url', service.url, '--token', token, ...period, '--dry-run'];
  const tried = await run(statement, ...options);
  expect(tried.output).toContain('missing_here: repairs 1, amount 1.00 EUR\n');
  expect(tried.output).toContain('skipped, because they would be refused or must wait: 1000\n');
});

test.each([
  ['s.csv', ['--apply']],
  ['s.csv', ['--approve']],
  ['s.csv', ['--dry-run', '--max-amount', '1.00']],
  ['/v1/reconciliations/r/dry-runs/d', ['--dry-run']],
  ['/v1/reconciliations/r/dry-runs/d', ['--out', 'differences.csv']],
  ['/v1/reconciliations/r/dry-runs/d', ['--approve', '--apply']],
  ['/v1/reconciliations/r/dry-runs/d', ['--max-amount', '1.00']],
])('%s with %j is refused, because the option cannot be used there', async (file, options) => {
  const period = file === 's.csv' ? ['--from', 'x', '--to', 'x'] : [];
  const refused = await run(file, '--token', 't', ...period, ...options);
  expect(refused.code).toBe(2);
  expect(refused.output).toMatch(/^--[\w-]+ cannot be used here\. --help says more\.\n/);
});
