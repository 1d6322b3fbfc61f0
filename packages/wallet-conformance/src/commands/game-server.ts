import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { UsageError } from '@platform/program';
import { say } from '@platform/program/terminal';
import { walletHere } from '../env.ts';
import { countOf, type Command } from './target.ts';
import { createCaller, createFaults, readFaultRates } from '../game-server/caller.ts';
import { playRound } from '../game-server/rounds.ts';
import { createStandIn } from '../game-server/server.ts';
import { jsonLines, losingCaller, recordingCaller, withFaults, type Line } from '../game-server/statement.ts';
import { createRandom } from '../random.ts';

const usage = `game-server: a stand-in game server. It waits for launches, or plays by itself with --player
  --url <url>            of the operator (the variable OPERATOR_URL, else the stack that runs here)
  --secret <secret>      of the HMAC (the variable HMAC_SECRET, else that of the stack that runs here)
  --host, --port         where it listens (127.0.0.1, 4190)
  --operator-id <id>     that launches must carry (local-operator)
  --rounds <n>           with each player who is launched, or with --player (10)
  --player <id>          plays for this player instead of waiting for launches
  --game, --currency     of that player (dice-alpha, EUR)
  --statement <file>     writes the statement of that player's rounds, one JSON object a line
  --statement-faults <share>  of its lines that get a mistake; a tenth as often it sends a round no further
  --faults <rates>       such as late=0.1,doubled=0.1: callbacks lost, late, doubled, reordered or with a wrong signature;
                         answers late, garbled or an error
  --seed <n>             repeats the choices of an earlier run
`;

const options = {
  url: { type: 'string' },
  secret: { type: 'string' },
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '4190' },
  'operator-id': { type: 'string', default: 'local-operator' },
  rounds: { type: 'string', default: '10' },
  player: { type: 'string' },
  game: { type: 'string', default: 'dice-alpha' },
  currency: { type: 'string', default: 'EUR' },
  statement: { type: 'string' },
  'statement-faults': { type: 'string', default: '0' },
  faults: { type: 'string', default: '' },
  seed: { type: 'string' },
} as const;

const print = (value: unknown): void => say(JSON.stringify(value));

/** Exit code 0 when all rounds were played, or when it was told to stop. */
const run = async (args: string[]): Promise<number> => {
  const { values } = parseArgs({ args, options });
  const { url = walletHere().url, secret = walletHere().secret, player, currency } = values;
  if (!secret) throw new UsageError('give --secret or HMAC_SECRET, or start the stack first');
  const seed = values.seed === undefined ? randomInt(2 ** 31) : countOf(values.seed, 'seed');
  const rounds = countOf(values.rounds, 'rounds');
  const random = createRandom(seed);
  const faults = createFaults(readFaultRates(values.faults), random);

  if (player === undefined) {
    const operatorId = values['operator-id'];
    const standIn = createStandIn({
      operatorUrl: url,
      secret,
      operatorId,
      rounds,
      faults,
      random,
      onRound: print,
    });
    standIn.listen(countOf(values.port, 'port'), values.host);
    await once(standIn, 'listening');
    const { address, port } = standIn.address() as AddressInfo;
    print({ listening: `http://${address}:${port}`, operator: url, seed });
    for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => standIn.close());
    await once(standIn, 'close');
    return 0;
  }
  print({ seed });
  const rate = Number(values['statement-faults']);
  if (!(rate >= 0 && rate <= 1)) throw new UsageError('--statement-faults is from 0 to 1');
  const lines: Line[] = [];
  const unsent = new Set<string>();
  const sender = createCaller({ url, secret, faults });
  const caller = recordingCaller(losingCaller(sender, rate / 10, random, unsent), currency, lines);
  for (let round = 0; round < rounds; round++)
    print(await playRound(caller, { playerId: player, gameCode: values.game, random }));
  await caller.settle();
  if (values.statement !== undefined) {
    const statement = withFaults(lines, rate, random, unsent);
    await writeFile(values.statement, jsonLines(statement.lines));
    print({ statement: values.statement, faults: statement.faults });
  }
  return 0;
};

export const gameServerCommand: Command = { usage, run };
