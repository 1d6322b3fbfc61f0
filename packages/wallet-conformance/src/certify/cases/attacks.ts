import { changing, check, expectOk, expectStatus, testCase, type Case, type Group } from '../expect.ts';
import { newIds } from '../wallet.ts';

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
