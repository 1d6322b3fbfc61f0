import { randomUUID } from 'node:crypto';
import { createRequestSignatures } from '@platform/wallet-protocol/signing';
import type { LoadRequest } from '../load.ts';

/** The secret that the requests are signed with. */
export const secret = 'a secret for benchmarks';

const signatures = createRequestSignatures({ secrets: { current: secret } });

const signed = (path: string, body: string): LoadRequest => {
  const headers = { 'Content-Type': 'application/json', ...signatures.headers(path, body) };
  return { method: 'POST', path, headers, body };
};

/** Signed debits of 0.01, each with a new transaction and round, spread over the first `players` players. */
export const debits = (count: number, players: number): LoadRequest[] =>
  Array.from({ length: count }, (_, index) =>
    signed(
      '/callback/debit',
      JSON.stringify({
        requestId: randomUUID(),
        playerId: `player-${index % players}`,
        transactionId: randomUUID(),
        roundId: randomUUID(),
        gameCode: 'dice-alpha',
        amount: '0.01',
        metadata: '{"channel":"web"}',
      }),
    ),
  );
