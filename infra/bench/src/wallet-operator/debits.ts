import { createHmac, randomUUID } from 'node:crypto';

/** What the service is started with, and what requests are signed with. */
export const secret = 'benchmark';

const signed = (path: string, body: string): Buffer => {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', secret)
    .update(timestamp + path + body)
    .digest('hex');
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Timestamp: ${timestamp}`,
    `X-HMAC-SHA256: ${signature}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
};

/** Signed debits of 0.01, each a transaction and a round of its own, over so many players. */
export const debits = (count: number, players: number): Buffer[] =>
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
