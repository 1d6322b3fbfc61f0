import { run, type Program } from './program.ts';
import { OPERATOR_ID, type Platform } from './stack.ts';

/** The stand-in game server of the wallet; it plays `rounds` rounds with each player who is launched. */
export const runGameServer = (
  { host, port }: Platform['gameServer'],
  operatorUrl: string,
  hmacSecret: string,
  rounds: number,
): Program =>
  run('services/wallet-operator/src/game-server.ts', [], {
    GAME_SERVER_HOST: host,
    GAME_SERVER_PORT: String(port),
    GAME_SERVER_ROUNDS: String(rounds),
    HMAC_SECRET: hmacSecret,
    OPERATOR_ID,
    OPERATOR_URL: operatorUrl,
  });
