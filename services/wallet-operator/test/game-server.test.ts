import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { listen } from '@platform/service-kit/service';
import { createCaller, createFaults, type FaultRates } from '@platform/wallet-conformance/game-server/caller';
import { playRound } from '@platform/wallet-conformance/game-server/rounds';
import { createStandIn } from '@platform/wallet-conformance/game-server/server';
import { createRandom } from '@platform/wallet-conformance/random';
import { createRequestSignatures } from '@platform/wallet-protocol/signing';
import { expect, onTestFinished, test } from 'vitest';
import { createGameServer, type LaunchOrder } from '../src/accounts/launches/game-server.ts';
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

const signatures = createRequestSignatures({ secrets: { current: secret } });

/** Plays rounds with a fault rate; returns what the ledger and the game server think of the player's money. */
const play = async (rates: FaultRates, seed: number) => {
  await using service = await startService();
  const { sql } = service.context.database;
  await addGame(sql);
  const playerId = await addPlayer(sql);
  const random = createRandom(seed);
  const faults = createFaults(rates, random);
  const caller = createCaller({ url: service.url, secret, faults });
  const rounds = await Promise.all(
    Array.from({ length: 8 }, () => playRound(caller, { playerId, gameCode: 'dice-alpha', random })),
  );
  await caller.settle();
  await expectSoundLedger(service);
  const [row] = await sql<{ balance: string }[]>`select balance from players`;
  const refused = await sql`select from refusals where status = 'ERROR_DUPLICATE_TRANSACTION'`;
  const inLedger = Number(row?.balance);
  // A credit that stayed without an answer may or may not have moved money; all others say what they moved.
  const isClear = rounds
    .flatMap(({ steps }) => steps)
    .every(({ callback, status }) => callback === 'debit' || status !== 'no answer');
  const moved = rounds.reduce((sum, round) => sum + round.moved, 0);
  return { duplicates: refused.length, inLedger, expected: isClear ? 100_000 + moved : inLedger };
};

test.each(['lost', 'late', 'doubled', 'reordered', 'signature'] as const)(
  'rounds whose callbacks are %s end in a sound ledger and the balance that the game server expects',
  async (kind) => {
    const seed = randomInt(2 ** 31);
    const { duplicates, inLedger, expected } = await play({ [kind]: 0.4 }, seed);
    expect(duplicates, `seed ${seed}`).toBe(0);
    expect(inLedger, `seed ${seed}`).toBe(expected);
  },
);

test('all faults together', async () => {
  const seed = randomInt(2 ** 31);
  const rates = { lost: 0.1, late: 0.1, doubled: 0.1, reordered: 0.1, signature: 0.1 };
  const { duplicates, inLedger, expected } = await play(rates, seed);
  expect(duplicates, `seed ${seed}`).toBe(0);
  expect(inLedger, `seed ${seed}`).toBe(expected);
});

test('a seed repeats the choices, and rates are kept', () => {
  const run = (seed: number) => {
    const faults = createFaults({ late: 0.25, doubled: 0.5, error: 0.25 }, createRandom(seed));
    return Array.from({ length: 1000 }, () => [faults.drawCallbackFault(), faults.drawAnswerFault()]);
  };
  expect(run(7)).toEqual(run(7));
  expect(run(7)).not.toEqual(run(8));
  const count = (kind: string) => run(7).filter(([callback]) => callback === kind).length;
  expect(count('late')).toBeGreaterThan(180);
  expect(count('late')).toBeLessThan(320);
  expect(count('doubled')).toBeGreaterThan(400);
  expect(run(7).some(([callback]) => callback === undefined)).toBe(true);
});

test('neither a player nor a game that the game server does not answer closes it for others', async () => {
  const gameServer = createServer((req, res) => {
    void text(req).then((body) => {
      const { gameCode, playerId } = JSON.parse(body) as LaunchOrder;
      if (gameCode === 'broken') res.writeHead(500).end('{}');
      else if (gameCode !== 'hanging' && playerId !== 'hanging') res.end('{}');
    });
  });
  const { port } = await listen(gameServer, '127.0.0.1', 0);
  onTestFinished(() => {
    gameServer.closeAllConnections();
    gameServer.close();
  });
  const server = createGameServer({
    url: `http://127.0.0.1:${port}`,
    operatorId: 'op',
    signatures,
    limitMs: 60_000,
  });
  const launch = (playerId: string, gameCode = 'dice') =>
    server.launch({ playerId, currency: 'EUR', gameCode, countryCode: 'DE', details: {} });
  const unavailable = { code: 'game_server_unavailable' };
  for (let times = 0; times < 6; times += 1)
    await expect(launch('ada', 'broken')).rejects.toMatchObject(unavailable);
  const hanging = Array.from({ length: 5 }, () => launch('hanging'));
  await expect(launch('hanging')).rejects.toMatchObject(unavailable);
  expect(await launch('ben')).toEqual({});
  hanging.push(...Array.from({ length: 100 }, (_, at) => launch(`player-${at}`, 'hanging')));
  await expect(launch('ben', 'hanging')).rejects.toMatchObject(unavailable);
  expect(await launch('ben')).toEqual({});
  gameServer.closeAllConnections();
  await Promise.allSettled(hanging);
});

test.each(['late', 'garbled', 'error'] as const)(
  'answers of the stand-in that are %s make launches and currencies unavailable',
  async (kind) => {
    const faults = createFaults({ [kind]: 1 }, createRandom(1));
    const standIn = createStandIn({ operatorUrl: 'http://127.0.0.1:1', secret, operatorId: 'op', faults });
    const { port } = await listen(standIn, '127.0.0.1', 0);
    onTestFinished(() => {
      standIn.closeAllConnections();
      standIn.close();
    });
    const server = createGameServer({
      url: `http://127.0.0.1:${port}`,
      operatorId: 'op',
      signatures,
      limitMs: 300,
    });
    const order = { playerId: 'ada', currency: 'EUR', gameCode: 'dice', countryCode: 'DE', details: {} };
    await expect(server.currencies()).rejects.toMatchObject({ code: 'game_server_unavailable' });
    await expect(server.launch(order)).rejects.toMatchObject({ code: 'game_server_unavailable' });
  },
);
