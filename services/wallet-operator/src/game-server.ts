/**
 * `pnpm --filter wallet-operator game-server`: a stand-in game server. With GAME_SERVER_PLAYER it plays rounds for that
 * player by itself; else it waits for launches. With GAME_SERVER_STATEMENT it then writes its statement to that file (one
 * JSON object a line), with mistakes in a share of GAME_SERVER_STATEMENT_FAULTS of the lines, which it prints; a tenth as
 * often it does not send the rest of a round.
 */
import { writeFileSync } from 'node:fs';
import { createRequestSignatures } from '@platform/wallet-protocol/signing';
import { settingsOrExit } from '@platform/service-kit/env';
import { listen } from '@platform/service-kit/service';
import { standInEnv } from './env.ts';
import { createRandom } from './history/random.ts';
import { createCaller } from './stand-in/caller.ts';
import { createFaults } from './stand-in/faults.ts';
import { playRound } from './stand-in/rounds.ts';
import { createStandIn } from './stand-in/server.ts';
import { jsonLines, losingCaller, recordingCaller, withFaults, type Line } from './stand-in/statement.ts';

const env = settingsOrExit('wallet-operator', standInEnv);
const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
const random = createRandom(env.GAME_SERVER_SEED);
const faults = createFaults(env.GAME_SERVER_FAULTS, random);

if (env.GAME_SERVER_PLAYER === undefined) {
  const standIn = createStandIn({
    operatorUrl: env.OPERATOR_URL,
    secret: env.HMAC_SECRET,
    operatorId: env.OPERATOR_ID,
    rounds: env.GAME_SERVER_ROUNDS,
    faults,
    random,
    onRound: say,
  });
  const { address, port } = await listen(standIn, env.GAME_SERVER_HOST, env.GAME_SERVER_PORT);
  say({ listening: `http://${address}:${port}`, operator: env.OPERATOR_URL, seed: env.GAME_SERVER_SEED });
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => standIn.close());
} else {
  say({ seed: env.GAME_SERVER_SEED });
  const signatures = createRequestSignatures({ secrets: { current: env.HMAC_SECRET } });
  const lines: Line[] = [];
  const sender = createCaller({ url: env.OPERATOR_URL, signatures, faults });
  const rate = env.GAME_SERVER_STATEMENT_FAULTS;
  const unsent = new Set<string>();
  const losing = losingCaller(sender, rate / 10, random, unsent);
  const caller = recordingCaller(losing, env.GAME_SERVER_CURRENCY, lines);
  for (let round = 0; round < env.GAME_SERVER_ROUNDS; round++)
    say(
      await playRound(caller, {
        playerId: env.GAME_SERVER_PLAYER,
        gameCode: env.GAME_SERVER_GAME_CODE,
        random,
      }),
    );
  await caller.settle();
  if (env.GAME_SERVER_STATEMENT !== undefined) {
    const statement = withFaults(lines, rate, random, unsent);
    writeFileSync(env.GAME_SERVER_STATEMENT, jsonLines(statement.lines));
    say({ statement: env.GAME_SERVER_STATEMENT, faults: statement.faults });
  }
}
