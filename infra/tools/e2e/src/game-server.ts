import { run, type Program } from './program.ts';
import { OPERATOR_ID, type Platform } from './stack.ts';

/** The stand-in game server of the wallet; it plays `rounds` rounds with each player who is launched. */
export const runGameServer = (
  { host, port }: Platform['gameServer'],
  operatorUrl: string,
  hmacSecret: string,
  rounds: number,
): Program =>
  run(
    'packages/wallet-conformance/src/main.ts',
    [
      'game-server',
      ...Object.entries({
        host,
        port,
        rounds,
        url: operatorUrl,
        'operator-id': OPERATOR_ID,
      }).flatMap(([name, value]) => [`--${name}`, String(value)]),
    ],
    { HMAC_SECRET: hmacSecret },
  );
