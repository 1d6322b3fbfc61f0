import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createRequestSignatures } from '@platform/wallet-protocol/signing';
import { expect, onTestFinished, test } from 'vitest';
import { conformanceProgram } from './conformance-program.ts';
import { addGame, addPlayer } from './factories.ts';
import { secret, startService, type Running } from './harness.ts';
import { expectSoundLedger } from './proof.ts';

/** `pnpm wallet-conformance game-server`. */
const run = ({ url }: Pick<Running, 'url'>, ...args: string[]) => {
  const child = spawn(process.execPath, [conformanceProgram, 'game-server', ...args], {
    env: { HMAC_SECRET: secret, OPERATOR_URL: url },
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
  const faults = 'lost=0.2,doubled=0.2,reordered=0.1';
  const choices = ['--rounds', '4', '--faults', faults, '--seed', '7'];
  const { exited, lines } = run(service, '--player', playerId, ...choices);
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
  const { child, exited, lines } = run(service, '--port', '0', '--operator-id', 'op-1');
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
  for (const faults of ['early=0.1', 'late', 'late=2', 'late=0.1;lost=0.1', 'late=0.6,lost=0.6']) {
    const { exited } = run({ url: 'http://127.0.0.1:1' }, '--faults', faults);
    expect(await exited, faults).toBe(2);
  }
});
