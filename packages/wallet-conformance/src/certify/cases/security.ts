import { signatureOf } from '@platform/wallet-protocol/signing';
import { changing, check, expectOk, expectStatus, testCase, type Case, type Group } from '../expect.ts';
import { newIds, type Deviations, type Wallet } from '../wallet.ts';

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

const badAmount = (amount: unknown): Case =>
  changing(`an amount of ${JSON.stringify(amount)} is wrong syntax in debit and credit`, 0n, async (w) => {
    expectStatus(await w.debit({ amount }), 'ERROR_WRONG_SYNTAX');
    expectStatus(await w.credit({ amount }), 'ERROR_WRONG_SYNTAX');
  });

const harmless = (title: string, text: string): Case =>
  changing(`${title} in ids and metadata is text and nothing else`, -100n, async (w) => {
    const { transactionId } = newIds();
    const fields = {
      transactionId: `${text}${transactionId}`,
      roundId: `${text}${transactionId}`,
      metadata: text,
    };
    const first = expectOk(await w.debit(fields));
    check(expectOk(await w.debit(fields)) === first, 'the repeat has another balance');
  });

const badBody = (title: string, body: string | Buffer): Case =>
  testCase(`a body that is ${title} is wrong syntax`, async (w) => {
    const reply = expectStatus(await w.raw('debit', body), 'ERROR_WRONG_SYNTAX');
    check(reply.http < 500, `bad syntax must not be a server error, got HTTP ${reply.http}`);
    await w.money();
  });

export const attacks: Group = {
  title: 'Attacks',
  cases: [
    ...['-1.00', '1e3', '.5', '01.00', '1.001', '0x10', '1,00', ' 1', '', 'NaN', 1, null, ['1.00']].map(
      badAmount,
    ),
    harmless('SQL', "'; DROP TABLE players; --"),
    harmless('HTML', '<script>alert(1)</script>'),
    harmless('a template', '${7*7}{{7*7}}'),
    harmless('a path', '../../etc/passwd'),
    badBody('empty', ''),
    badBody('not JSON', '{"requestId":"r"'),
    badBody('a list', '[]'),
    badBody('null', 'null'),
    badBody('not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])),
    badBody('nested 20,000 deep', '['.repeat(20_000)),
    badBody('larger than 100 kB', `{"requestId":"r","pad":"${'x'.repeat(150_000)}"}`),
    changing('control characters in an id are wrong syntax', 0n, async (w) =>
      expectStatus(await w.debit({ transactionId: 'a\u0000b' }), 'ERROR_WRONG_SYNTAX'),
    ),
    testCase('__proto__ and constructor in a body change nothing', async (w) => {
      const { player } = w.target;
      const body = `{"requestId":"r","playerId":${JSON.stringify(player)},"__proto__":{"status":"x"},"constructor":1}`;
      expectOk(await w.raw('balance', body));
    }),
    changing('only POST moves money', 0n, async (w) => {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const { status, http } = await w.send(
          'debit',
          { ...newIds(), gameCode: w.target.game, amount: '1.00' },
          { method },
        );
        check(status !== 'OK' && http >= 400 && http < 500, `${method} was answered HTTP ${http}`);
      }
    }),
  ],
};
