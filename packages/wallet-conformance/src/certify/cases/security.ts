import { signatureOf } from '@platform/wallet-protocol/signing';
import { balanceCase, check, expectOk, expectStatus, testCase, type Case } from '../expect.ts';
import { newIds, type Deviations, type Wallet } from '../wallet.ts';

const seconds = (shift: number): string => String(Math.floor(Date.now() / 1000) + shift);

const refusedCase = (title: string, deviations: () => Deviations): Case =>
  balanceCase(`refuses ${title}`, 0n, async (w) => {
    const answer = await w.debit({ requestId: 'hmac' }, deviations());
    const reply = expectStatus(answer, 'ERROR_INVALID_SIGNATURE');
    check(reply.http < 500, `a refused signature must not be a server error, got HTTP ${reply.http}`);
    check(reply.requestId === 'hmac', 'requestId must be repeated');
  });

const body = (w: Wallet): string => JSON.stringify({ requestId: 'r', playerId: w.target.player });

export const hmac: Case[] = [
  refusedCase('a request without a signature', () => ({ signature: null })),
  refusedCase('a request without a timestamp', () => ({ timestamp: null })),
  refusedCase('an empty signature', () => ({ signature: '' })),
  refusedCase('a signature that is not hex', () => ({ signature: 'zz'.repeat(32) })),
  refusedCase('a truncated signature', () => ({ signature: 'ab'.repeat(16) })),
  refusedCase('a signature with another secret', () => ({ secret: 'another secret' })),
  refusedCase('a body that was changed after signing', () => ({ signedBody: '{}' })),
  refusedCase('a timestamp two minutes ago', () => ({ timestamp: seconds(-120) })),
  refusedCase('a timestamp two minutes ahead', () => ({ timestamp: seconds(120) })),
  refusedCase('a timestamp that is not a number', () => ({ timestamp: 'now' })),
  refusedCase('a signature sent twice', () => ({ signature: ['ab'.repeat(32), 'cd'.repeat(32)] })),
  testCase('refuses a signature of another callback', async (w) => {
    // If the path is not signed, the wallet cannot detect this.
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
  testCase('checks the signature over the exact bytes, including whitespace', async (w) =>
    expectOk(
      await w.raw('balance', `{ "playerId" : ${JSON.stringify(w.target.player)},\n\t"requestId":"r" }\n`),
    ),
  ),
  testCase('checks the signature before the body', async (w) =>
    expectStatus(await w.raw('balance', 'not json', { secret: 'another' }), 'ERROR_INVALID_SIGNATURE'),
  ),
];

const badAmountCase = (amount: unknown): Case =>
  balanceCase(`an amount of ${JSON.stringify(amount)} is wrong syntax in debit and credit`, 0n, async (w) => {
    expectStatus(await w.debit({ amount }), 'ERROR_WRONG_SYNTAX');
    expectStatus(await w.credit({ amount }), 'ERROR_WRONG_SYNTAX');
  });

const harmlessTextCase = (title: string, text: string): Case =>
  balanceCase(`${title} in ids and metadata is treated as plain text`, -100n, async (w) => {
    const { transactionId } = newIds();
    const fields = {
      transactionId: `${text}${transactionId}`,
      roundId: `${text}${transactionId}`,
      metadata: text,
    };
    const first = expectOk(await w.debit(fields));
    check(expectOk(await w.debit(fields)) === first, 'the repeat was answered with another balance');
  });

const badBodyCase = (title: string, body: string | Buffer): Case =>
  testCase(`a body that is ${title} is wrong syntax`, async (w) => {
    const reply = expectStatus(await w.raw('debit', body), 'ERROR_WRONG_SYNTAX');
    check(reply.http < 500, `bad syntax must not be a server error, got HTTP ${reply.http}`);
    await w.money();
  });

export const attacks: Case[] = [
  ...['-1.00', '1e3', '.5', '01.00', '1.001', '0x10', '1,00', ' 1', '', 'NaN', 1, null, ['1.00']].map(
    badAmountCase,
  ),
  harmlessTextCase('SQL', "'; DROP TABLE players; --"),
  harmlessTextCase('HTML', '<script>alert(1)</script>'),
  harmlessTextCase('a template', '${7*7}{{7*7}}'),
  harmlessTextCase('a path', '../../etc/passwd'),
  badBodyCase('empty', ''),
  badBodyCase('not JSON', '{"requestId":"r"'),
  badBodyCase('a list', '[]'),
  badBodyCase('null', 'null'),
  badBodyCase('not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])),
  badBodyCase('nested 20,000 levels deep', '['.repeat(20_000)),
  badBodyCase('larger than 100 kB', `{"requestId":"r","pad":"${'x'.repeat(150_000)}"}`),
  balanceCase('control characters in an id are wrong syntax', 0n, async (w) =>
    expectStatus(await w.debit({ transactionId: 'a\u0000b' }), 'ERROR_WRONG_SYNTAX'),
  ),
  testCase('__proto__ and constructor in a body change nothing', async (w) => {
    const { player } = w.target;
    const body = `{"requestId":"r","playerId":${JSON.stringify(player)},"__proto__":{"status":"x"},"constructor":1}`;
    expectOk(await w.raw('balance', body));
  }),
  balanceCase('only POST moves money', 0n, async (w) => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const { status, http } = await w.debit({}, { method });
      check(status !== 'OK' && http >= 400 && http < 500, `${method} was answered HTTP ${http}`);
    }
  }),
];
