import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { UsageError } from '@platform/program';
import { say } from '@platform/program/terminal';
import { defineCommand, parseWholeNumber } from './command.ts';
import { expectSecret, walletOptions } from './target.ts';
import { createCaller, createFaults, readFaultRates } from '../game-server/caller.ts';
import { playRound } from '../game-server/rounds.ts';
import { createStandIn } from '../game-server/server.ts';
import {
  jsonLines,
  recordingCaller,
  roundLosingCaller,
  withFaults,
  type StatementLine,
} from '../game-server/statement.ts';
import { createRandom } from '../random.ts';

const usage = `game-server: a stand-in game server. It waits for launches; with --player it plays by itself
  --url <url>            address of the operator (default: the variable OPERATOR_URL, else the local stack)
  --secret <secret>      HMAC secret (default: the variable HMAC_SECRET, else that of the local stack)
  --host, --port         address to listen on (127.0.0.1, 4190)
  --operator-id <id>     operator id that launches must send (local-operator)
  --rounds <n>           number of rounds to play after each launch, or with --player (10)
  --player <id>          plays for this player instead of waiting for launches
  --game, --currency     game and currency for --player (dice-alpha, EUR)
  --statement <file>     writes the statement of the rounds of --player, one JSON object per line
  --statement-faults <share>  share of statement lines that get a mistake (0 to 1); with a tenth of this chance, a callback
                         and the rest of its round are not sent to the operator
  --faults <rates>       such as late=0.1,doubled=0.1: callbacks that are lost, late, doubled, reordered or have a wrong
                         signature; answers that are late, garbled or an error
  --seed <n>             repeats the random choices of an earlier run
`;

const print = (value: unknown): void => say(JSON.stringify(value));

/** Resolves with exit code 0 after all rounds, or after SIGTERM or SIGINT. */
export const gameServerCommand = defineCommand({
  usage,
  options: {
    ...walletOptions,
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
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
  },
  run: async (values) => {
    const { url: operatorUrl, secret, player, currency } = values;
    expectSecret(secret);
    const seed = parseWholeNumber(values.seed, 'seed');
    const rounds = parseWholeNumber(values.rounds, 'rounds');
    const random = createRandom(seed);
    const faults = createFaults(readFaultRates(values.faults), random);

    if (player === undefined) {
      const operatorId = values['operator-id'];
      const standIn = createStandIn({
        operatorUrl,
        secret,
        operatorId,
        rounds,
        faults,
        random,
        onRound: print,
      });
      standIn.listen(parseWholeNumber(values.port, 'port'), values.host);
      await once(standIn, 'listening');
      const { address, port } = standIn.address() as AddressInfo;
      print({ listening: `http://${address}:${port}`, operator: operatorUrl, seed });
      for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => standIn.close());
      await once(standIn, 'close');
      return 0;
    }
    print({ seed });
    const rate = Number(values['statement-faults']);
    if (!(rate >= 0 && rate <= 1)) throw new UsageError('--statement-faults must be from 0 to 1');
    const lines: StatementLine[] = [];
    const unsent = new Set<string>();
    const sender = createCaller({ url: operatorUrl, secret, faults });
    const caller = recordingCaller(roundLosingCaller(sender, rate / 10, random, unsent), currency, lines);
    for (let round = 0; round < rounds; round++)
      print(await playRound(caller, { playerId: player, gameCode: values.game, random }));
    await caller.settle();
    if (values.statement !== undefined) {
      const statement = withFaults(lines, rate, random, unsent);
      await writeFile(values.statement, jsonLines(statement.lines));
      print({ statement: values.statement, faults: statement.faults });
    }
    return 0;
  },
});
