import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createRequestSignatures } from '@platform/wallet-protocol/signing';
import { expect, onTestFinished, test } from 'vitest';
import { addGame, addPlayer } from './factories.ts';
import { secret, startService, type Running } from './harness.ts';
import { expectSoundLedger } from './proof.ts';

/** The program, as `pnpm --filter wallet-operator game-server` runs it. */
const run = ({ url }: Pick<Running, 'url'>, settings: Record<string, string>) => {
  const child = spawn(process.execPath, ['src/game-server.ts'], {
    cwd: new URL('..', import.meta.url).pathname,
    env: { HMAC_SECRET: secret, OPERATOR_URL: url, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  return { child, exited, lines: createInterface({ input: child.stdout }) };
};

test('plays rounds for a player with faults, and prints the seed and each round', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  await addGame(sql);
  const playerId = await addPlayer(sql);
  const { exited, lines } = run(service, {
    GAME_SERVER_PLAYER: playerId,
    GAME_SERVER_ROUNDS: '4',
    GAME_SERVER_FAULTS: 'lost=0.2,doubled=0.2,reordered=0.1',
    GAME_SERVER_SEED: '7',
  });
  const printed: unknown[] = [];
  for await (const line of lines) printed.push(JSON.parse(line));
  expect(printed.shift()).toEqual({ seed: 7 });
  const rounds = printed as { roundId: string; steps: { callback: string }[] }[];
  expect(await exited).toBe(0);
  expect(new Set(rounds.map(({ roundId }) => roundId)).size).toBe(4);
  for (const { steps } of rounds) expect(steps[0]?.callback).toBe('debit');
  const seen = await sql`select distinct round_id from entries where round_id is not null`;
  expect(new Set(seen.map((row) => row['round_id']))).toEqual(new Set(rounds.map(({ roundId }) => roundId)));
  await expectSoundLedger(service);
});

test('waits for launches, takes signed requests only, and ends when it is told to', async () => {
  await using service = await startService();
  const { child, exited, lines } = run(service, { GAME_SERVER_PORT: '0', OPERATOR_ID: 'op-1' });
  const [line] = (await once(lines, 'line')) as [string];
  const { listening } = JSON.parse(line) as { listening: string };
  const path = '/operator/currencies';
  const ask = async (key: string, operator: string) => {
    const signatures = createRequestSignatures({ secrets: { current: key } });
    const headers = { 'X-Operator-ID': operator, ...signatures.headers(path, '') };
    const answer = await fetch(listening + path, { headers });
    return [answer.status, await answer.json()] as const;
  };
  expect(await ask(secret, 'op-1')).toEqual([200, { currencies: expect.arrayContaining(['EUR', 'RMB']) }]);
  expect((await ask('another', 'op-1'))[0]).toBe(401);
  expect((await ask(secret, 'op-2'))[0]).toBe(401);
  child.kill('SIGTERM');
  expect(await exited).toBe(0);
});

test('does not start with a fault that it does not know, or without a chance from 0 to 1', async () => {
  for (const GAME_SERVER_FAULTS of [
    'early=0.1',
    'late',
    'late=2',
    'late=0.1;lost=0.1',
    'late=0.6,lost=0.6',
  ]) {
    const { exited } = run({ url: 'http://127.0.0.1:1' }, { GAME_SERVER_FAULTS });
    expect(await exited, GAME_SERVER_FAULTS).toBe(1);
  }
});
