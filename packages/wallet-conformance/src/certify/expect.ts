import { minorOf, newIds, type Reply, type Target, type Wallet } from './wallet.ts';

/** The backend breaks a promise of the contract. */
export class NotKept extends Error {
  override name = 'NotKept';
}

/** One test of a backend; throws where it does not keep the contract. */
export interface Case {
  title: string;
  /** Whether the case applies to this backend; always, when left out. */
  applies?(target: Target): boolean;
  run(wallet: Wallet): Promise<unknown>;
}

export const testCase = (title: string, run: Case['run']): Case => ({ title, run });

/** A case in which the balance changes by exactly `by` minor units. */
export const changing = (title: string, by: bigint, act: Case['run']): Case =>
  testCase(title, (wallet) => expectChange(wallet, by, () => act(wallet)));

/** What comes after the first step of a case, and checks what the backend knows by then. */
type SecondStep = () => Promise<unknown>;

/** A case of which the second step may come at once, or after a pause. */
export interface CaseInSteps extends Case {
  begin(wallet: Wallet): Promise<SecondStep>;
}

export const inSteps = (title: string, begin: CaseInSteps['begin']): CaseInSteps => ({
  title,
  begin,
  run: async (wallet) => (await begin(wallet))(),
});

export interface Group {
  title: string;
  cases: (Case | CaseInSteps)[];
}

const shown = ({ http, text }: Reply): string => `HTTP ${http} ${text.slice(0, 300)}`;

export const check = (holds: boolean, message: string): void => {
  if (!holds) throw new NotKept(message);
};

/** Throws unless the reply has one of the statuses. */
export const expectStatus = (reply: Reply, ...statuses: string[]): Reply => {
  check(statuses.includes(String(reply.status)), `expected ${statuses.join(' or ')}, got ${shown(reply)}`);
  return reply;
};

/** Throws unless the reply is OK with HTTP 200 and a balance of two decimals. Returns the balance in minor units. */
export const expectOk = (reply: Reply): bigint => {
  expectStatus(reply, 'OK');
  check(reply.http === 200, `OK needs HTTP 200, got ${shown(reply)}`);
  const minor = minorOf(reply.balance);
  if (minor === undefined) throw new NotKept(`OK needs a balance with two decimals, got ${shown(reply)}`);
  return minor;
};

/** Throws unless the reply is a clear refusal: neither OK nor a status that callers read as OK. */
export const expectRefusal = (reply: Reply): Reply => {
  const passing = ['OK', 'ERROR_DUPLICATE_TRANSACTION', 'ERROR_TRANSACTION_DOES_NOT_EXIST'];
  check(
    typeof reply.status === 'string' && !passing.includes(reply.status),
    `expected a refusal, got ${shown(reply)}`,
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

/** Throws unless the answer is OK, the balance changes by exactly `by` minor units, and the answer says so. */
export const expectMove = (wallet: Wallet, by: bigint, send: () => Promise<Reply>): Promise<void> =>
  expectChange(wallet, by, async () => {
    const before = await wallet.money();
    expectAmount(expectOk(await send()), before + by, 'balance in the answer');
  });

export type Ids = ReturnType<typeof newIds>;

/** The fields by which a rollback names its debit. */
export const reversalOf = ({ transactionId, roundId }: Ids) => ({
  roundId,
  reverseTransactionId: transactionId,
});

/** A debit of 1.00 that is accepted. Returns its ids. */
export const placeBet = async (wallet: Wallet): Promise<Ids> => {
  const debit = newIds();
  expectOk(await wallet.debit(debit));
  return debit;
};

export const times = <T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));
