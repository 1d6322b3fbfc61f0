import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { jsonLines } from '../src/stand-in/statement.ts';
import { addGame, addPlayer } from './factories.ts';
import { keys, secret, startService } from './harness.ts';
import { lineOf } from './reconciliations.ts';

const run = (file: string, args: string[], env: Record<string, string>) =>
  new Promise<{ code: number; output: string }>((resolve) => {
    const cwd = new URL('..', import.meta.url).pathname;
    execFile(process.execPath, [file, ...args], { cwd, env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    );
  });

test('the program finds the mistakes in a statement of the stand-in game server, repairs what it can and saves the rest', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  await addGame(sql);
  const playerId = await addPlayer(sql);
  const folder = await mkdtemp(join(tmpdir(), 'reconcile-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const statement = join(folder, 'statement.jsonl');
  const from = new Date().toISOString();
  const played = await run('src/game-server.ts', [], {
    HMAC_SECRET: secret,
    OPERATOR_URL: service.url,
    GAME_SERVER_PLAYER: playerId,
    GAME_SERVER_ROUNDS: '40',
    GAME_SERVER_STATEMENT: statement,
    GAME_SERVER_STATEMENT_FAULTS: '1',
  });
  expect(played.code, played.output).toBe(0);
  const { faults } = JSON.parse(played.output.trim().split('\n').at(-1) ?? '') as { faults: unknown[] };
  const token = await keys.token({ scope: 'wallet:admin wallet:read' });
  const out = join(folder, 'differences.csv');
  const given = ['--url', service.url, '--token', token, '--from', from, '--to', new Date().toISOString()];
  const found = await run('src/reconcile.ts', [statement, ...given, '--apply', '--out', out], {});
  expect(found.output).toContain(`${faults.length} differences`);
  expect(found.output).toContain('missing_here: ');
  expect(found.output).toContain('apply, applied, OK');
  // The game server has to correct the rest.
  expect(found.code).toBe(1);
  const [header, ...lines] = (await readFile(out, 'utf8')).trimEnd().split('\r\n');
  expect(header).toContain('number,kind,playerId,transactionId,repair,state');
  expect(lines).toHaveLength(faults.length);
});

test('the program takes each bet before it pays the win, also when they are hundreds of differences apart', async () => {
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
  const given = [statement, '--url', service.url, '--token', token, ...period, '--apply'];
  const repaired = await run('src/reconcile.ts', given, {});
  expect(repaired.code, repaired.output).toBe(0);
  const [sums] =
    await sql`select count(*)::int as entries, sum(amount)::int as sum from entries where round_id is not null`;
  expect(sums).toEqual({ entries: 202, sum: 0 });
});
