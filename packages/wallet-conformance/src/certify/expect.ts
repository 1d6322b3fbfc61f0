import { minorOf, newIds, type Reply, type Target, type Wallet } from './wallet.ts';

/** The backend broke a promise of the contract. */
export class ContractViolation extends Error {
  override name = 'NotKept';
}

/** One test of a backend; `run` throws when the backend does not keep the contract. */
export interface Case {
  title: string;
  /** Whether the case applies to this backend; if omitted, it always applies. */
  applies?(target: Target): boolean;
  run(wallet: Wallet): Promise<unknown>;
  /** Only in a case of two steps. Resolves with the second step, which may run immediately or after a pause. */
  runFirstStep?(wallet: Wallet): Promise<() => Promise<unknown>>;
}

export const testCase = (title: string, run: Case['run']): Case => ({ title, run });

/** A case in which the balance changes by exactly `by` minor units. */
export const balanceCase = (title: string, by: bigint, act: Case['run']): Case =>
  testCase(title, (wallet) => expectChange(wallet, by, () => act(wallet)));

/** A case whose second step checks that the backend still remembers the first step. */
export const twoStepCase = (title: string, runFirstStep: Required<Case>['runFirstStep']): Case => ({
  title,
  runFirstStep,
  run: async (wallet) => (await runFirstStep(wallet))(),
});

const describeReply = ({ http, text }: Reply): string => `HTTP ${http} ${text.slice(0, 300)}`;

export const check = (isKept: boolean, message: string): void => {
  if (!isKept) throw new ContractViolation(message);
};

/** Throws unless the reply has one of the statuses. Returns the reply. */
export const expectStatus = (reply: Reply, ...statuses: string[]): Reply => {
  check(
    statuses.includes(String(reply.status)),
    `expected ${statuses.join(' or ')}, got ${describeReply(reply)}`,
  );
  return reply;
};

/** Throws unless the reply is OK with HTTP 200 and a balance of two decimals. Returns the balance in minor units. */
export const expectOk = (reply: Reply): bigint => {
  expectStatus(reply, 'OK');
  check(reply.http === 200, `OK needs HTTP 200, got ${describeReply(reply)}`);
  const minor = minorOf(reply.balance);
  if (minor === undefined)
    throw new ContractViolation(`OK needs a balance with two decimals, got ${describeReply(reply)}`);
  return minor;
};

/** Throws unless the reply is a refusal: neither OK nor a status that callers treat like OK. */
export const expectRefusal = (reply: Reply): Reply => {
  const treatedAsOk = ['OK', 'ERROR_DUPLICATE_TRANSACTION', 'ERROR_TRANSACTION_DOES_NOT_EXIST'];
  check(
    typeof reply.status === 'string' && !treatedAsOk.includes(reply.status),
    `expected a refusal, got ${describeReply(reply)}`,
  );
  return reply;
};

export const expectAmount = (actual: bigint, expected: bigint, label: string): void =>
  check(actual === expected, `${label}: expected ${expected} minor units, got ${actual}`);

/** Runs `act`. Throws unless it changes the balance by exactly `by` minor units. */
export const expectChange = async (
  wallet: Wallet,
  by: bigint,
  act: () => Promise<unknown>,
): Promise<void> => {
  const before = await wallet.money();
  await act();
  expectAmount(await wallet.money(), before + by, 'balance afterwards');
};

/** Throws unless the answer is OK, the balance changes by exactly `by` minor units, and the answer has the new balance. */
export const expectMove = (wallet: Wallet, by: bigint, send: () => Promise<Reply>): Promise<void> =>
  expectChange(wallet, by, async () => {
    const before = await wallet.money();
    expectAmount(expectOk(await send()), before + by, 'balance in the answer');
  });

export type Ids = ReturnType<typeof newIds>;

/** The fields with which a rollback names its debit. */
export const reversalOf = ({ transactionId, roundId }: Ids) => ({
  roundId,
  reverseTransactionId: transactionId,
});

/** Sends a debit of 1.00, which must be accepted. Returns its ids. */
export const placeBet = async (wallet: Wallet): Promise<Ids> => {
  const debit = newIds();
  expectOk(await wallet.debit(debit));
  return debit;
};

export const sendAtOnce = <T>(count: number, send: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => send(index)));
