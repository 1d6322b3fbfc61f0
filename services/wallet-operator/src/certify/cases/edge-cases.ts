import { amounts, fresh, isOk, moves, says, type Case, type Group } from '../expect.ts';

const idOf = (title: string, id: string): Case => ({
  title: `ids may be ${title}`,
  run: (w) =>
    moves(w, 0n, async () => {
      const { transactionId } = fresh();
      const unique = id + transactionId.slice(0, 255 - [...id].length);
      isOk(await w.debit({ transactionId: unique, roundId: unique }));
      isOk(await w.credit({ roundId: unique }));
    }),
});

const amountOf = (amount: string, minor: bigint): Case => ({
  title: `an amount may be written "${amount}"`,
  run: (w) => moves(w, -minor, async () => isOk(await w.debit({ amount }))),
});

export const edgeCases: Group = {
  title: 'Edge cases',
  cases: [
    idOf('255 characters long', 'x'.repeat(219)),
    idOf('emoji', '🎲🎰👩‍👩‍👧'),
    idOf('of any script', 'Пример-例え-مثال-'),
    idOf('full of spaces and quotes', ` "'\\ `),
    {
      title: 'an id of 256 characters is wrong syntax',
      run: (w) =>
        moves(w, 0n, async () =>
          says(await w.debit({ transactionId: 'x'.repeat(256) }), 'ERROR_WRONG_SYNTAX'),
        ),
    },
    {
      title: 'ids that look alike are different ids',
      run: (w) =>
        moves(w, -300n, async () => {
          const { transactionId } = fresh();
          for (const id of [`\u00e9${transactionId}`, `e\u0301${transactionId}`, `E\u0301${transactionId}`])
            isOk(await w.debit({ transactionId: id }));
        }),
    },
    amountOf('0', 0n),
    amountOf('0.01', 1n),
    amountOf('1', 100n),
    amountOf('1.5', 150n),
    {
      title: 'a hundred cents are one',
      run: (w) =>
        moves(w, -100n, async () => {
          const before = await w.money();
          let last = before;
          for (let cent = 0; cent < 100; cent++) last = isOk(await w.debit({ amount: '0.01' }));
          amounts(last, before - 100n, 'balance in the last answer');
        }),
    },
    {
      title: '0.10 and 0.20 are 0.30',
      run: (w) =>
        moves(w, -30n, async () => {
          isOk(await w.debit({ amount: '0.10' }));
          isOk(await w.debit({ amount: '0.20' }));
        }),
    },
    {
      title: 'fields nobody knows are ignored',
      run: (w) =>
        moves(w, -100n, async () =>
          isOk(await w.debit({ extra: { deep: [1, null] }, status: 'OK', balance: '0' })),
        ),
    },
    {
      title: 'metadata may be long and need not be JSON',
      run: (w) => moves(w, -100n, async () => isOk(await w.debit({ metadata: 'not json '.repeat(2000) }))),
    },
    {
      title: 'a credit in a round that no debit opened moves all of it or nothing',
      run: async (w) => {
        const before = await w.money();
        const { status } = says(await w.credit(), 'OK', 'ERROR_TRANSACTION_DOES_NOT_EXIST');
        amounts(await w.money(), status === 'OK' ? before + 100n : before, 'balance afterwards');
      },
    },
  ],
};
