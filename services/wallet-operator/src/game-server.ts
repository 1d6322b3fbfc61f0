/**
 * `pnpm --filter wallet-operator game-server`: a stand-in game server. With GAME_SERVER_PLAYER it plays rounds for that
 * player by itself; else it waits for launches.
 */
import { createRequestSignatures } from '@platform/auth/hmac';
import { listen } from '@platform/service-kit/service';
import { standInEnv } from './env.ts';
import { createCaller } from './stand-in/caller.ts';
import { playRound } from './stand-in/rounds.ts';
import { createStandIn } from './stand-in/server.ts';

const env = standInEnv();
const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
const common = { operatorUrl: env.OPERATOR_URL, secret: env.HMAC_SECRET, dropRate: env.DROP_RATE };

if (env.PLAYER === undefined) {
  const standIn = createStandIn({ ...common, operatorId: env.OPERATOR_ID, rounds: env.ROUNDS, onRound: say });
  const { address, port } = await listen(standIn, env.HOST, env.PORT);
  say({ listening: `http://${address}:${port}`, operator: env.OPERATOR_URL });
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => standIn.close());
} else {
  const signatures = createRequestSignatures({ secrets: { current: env.HMAC_SECRET } });
  const call = createCaller({ url: env.OPERATOR_URL, signatures, dropRate: env.DROP_RATE });
  for (let round = 0; round < env.ROUNDS; round++)
    say(await playRound(call, { playerId: env.PLAYER, gameCode: env.GAME_CODE }));
}
