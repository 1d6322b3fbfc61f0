import { startScript, type StartedScript } from '@platform/local/platform';
import { OPERATOR_ID, type Platform } from './stack.ts';

/** The stand-in game server of the wallet; it plays `rounds` rounds with each player who is launched. */
export const runGameServer = (
  { host, port }: Platform['gameServer'],
  operatorUrl: string,
  hmacSecret: string,
  rounds: number,
): StartedScript =>
  startScript(
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
    { env: { HMAC_SECRET: hmacSecret } },
  );
