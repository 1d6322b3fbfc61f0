import { signatureOf } from '@platform/wallet-protocol/signing';
import { changing, check, expectOk, expectStatus, testCase, type Case, type Group } from '../expect.ts';
import type { Deviations, Wallet } from '../wallet.ts';

const seconds = (shift: number): string => String(Math.floor(Date.now() / 1000) + shift);

const refused = (title: string, deviations: () => Deviations): Case =>
  changing(`refuses ${title}`, 0n, async (w) => {
    const fields = {
      transactionId: crypto.randomUUID(),
      roundId: 'hmac',
      gameCode: w.target.game,
      amount: '1.00',
    };
    const reply = expectStatus(
      await w.send('debit', { requestId: 'hmac', ...fields }, deviations()),
      'ERROR_INVALID_SIGNATURE',
    );
    check(reply.http < 500, `a refused signature must not be a server error, got HTTP ${reply.http}`);
    check(reply.requestId === 'hmac', 'requestId must be repeated');
  });

const body = (w: Wallet): string => JSON.stringify({ requestId: 'r', playerId: w.target.player });

export const hmac: Group = {
  title: 'HMAC',
  cases: [
    refused('a request without a signature', () => ({ signature: null })),
    refused('a request without a timestamp', () => ({ timestamp: null })),
    refused('an empty signature', () => ({ signature: '' })),
    refused('a signature that is not hex', () => ({ signature: 'zz'.repeat(32) })),
    refused('a signature that is cut short', () => ({ signature: 'ab'.repeat(16) })),
    refused('a signature by another secret', () => ({ secret: 'another secret' })),
    refused('a body that was changed on the way', () => ({ signedBody: '{}' })),
    refused('a timestamp two minutes ago', () => ({ timestamp: seconds(-120) })),
    refused('a timestamp two minutes ahead', () => ({ timestamp: seconds(120) })),
    refused('a timestamp that is not a number', () => ({ timestamp: 'now' })),
    refused('a signature sent twice', () => ({ signature: ['ab'.repeat(32), 'cd'.repeat(32)] })),
    testCase('refuses a signature made for another callback', async (w) => {
      // Where the path is not signed, nothing can tell.
      if (w.target.signatureString === 'timestamp+body') return;
      expectStatus(
        await w.raw('balance', body(w), { signedPath: '/callback/debit' }),
        'ERROR_INVALID_SIGNATURE',
      );
    }),
    testCase('refuses a signature over the body alone', async (w) => {
      const signature = signatureOf(w.target.secret, ['body'], { timestamp: '', path: '', body: body(w) });
      expectStatus(await w.raw('balance', body(w), { signature }), 'ERROR_INVALID_SIGNATURE');
    }),
    testCase('checks the bytes that were sent, spaces and all', async (w) =>
      expectOk(
        await w.raw('balance', `{ "playerId" : ${JSON.stringify(w.target.player)},\n\t"requestId":"r" }\n`),
      ),
    ),
    testCase('checks the signature before the body', async (w) =>
      expectStatus(await w.raw('balance', 'not json', { secret: 'another' }), 'ERROR_INVALID_SIGNATURE'),
    ),
  ],
};
