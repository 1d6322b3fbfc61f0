/** Loads the demo data (may run repeatedly) and prints the part of the output of `start` that describes it. */
import { createLog } from '@platform/service-kit/log';
import { createMetrics } from '@platform/service-kit/metrics';
import { createContext } from './context.ts';
import { gatewayUrl, processEnv } from './env.ts';
import { findPlayer, insertPlayer } from './accounts/players/queries.ts';
import { loadOpenCases } from './demo/open-cases.ts';
import { insertGame } from './accounts/games.ts';

const games = [
  { gameCode: 'dice-alpha', name: 'Dice Alpha', enabled: true },
  { gameCode: 'blackjack-classic', name: 'Blackjack Classic', enabled: true },
  { gameCode: 'slots-retired', name: 'Slots (retired)', enabled: false },
];
const players = [
  { playerId: 'demo-1', currency: 'EUR', name: 'Demo One', countryCode: 'DE', languageCode: 'de' },
  { playerId: 'demo-2', currency: 'USD', name: 'Demo Two', countryCode: 'US', languageCode: 'en' },
  { playerId: 'demo-3', currency: 'CNY', name: 'Demo Three', countryCode: 'CN', languageCode: 'zh' },
];

const env = processEnv();
await using context = createContext(env, { log: createLog('demo', 'silent'), metrics: createMetrics() });
const { sql } = context.database;
for (const game of games) await insertGame(sql, game);
const wallets = [];
for (const player of players) {
  const { playerId, currency } = player;
  await insertPlayer(sql, player);
  // The transaction id is always the same, so repeated runs book the deposit once.
  await context.ledger.add({
    operation: 'deposit',
    playerId,
    transactionId: `demo-deposit-${playerId}`,
    amount: 100_000,
  });
  const { balance } = (await findPlayer(sql, playerId)) ?? {};
  wallets.push({ playerId, currency, balance });
}

await loadOpenCases(context);

const path = '/callback/balance';
const body = '{"requestId":"demo","playerId":"demo-1"}';
// The command computes the signature when the user runs it, because a signature from now would have expired.
const command = [
  `T=$(date +%s); curl -s ${gatewayUrl()}${path} -H 'Content-Type: application/json' -H "X-Timestamp: $T"`,
  `-H "X-HMAC-SHA256: $(printf '%s' "$T${path}"'${body}' | openssl dgst -sha256 -hmac '${env.HMAC_SECRET}' -r | cut -c1-64)"`,
  `-d '${body}'`,
].join(' ');

process.stdout.write(
  JSON.stringify({
    demo: { wallet: { hmacSecret: env.HMAC_SECRET, players: wallets, gameCode: 'dice-alpha' } },
    curls: [{ title: 'Read the balance of a player, like the game server', command }],
  }),
);
