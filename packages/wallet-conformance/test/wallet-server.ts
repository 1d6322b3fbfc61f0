import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { jsonOf, requestIdOf } from '@platform/wallet-protocol/body';
import {
  AuthenticateRequest,
  BalanceRequest,
  CreditRequest,
  DebitRequest,
  RollbackRequest,
} from '@platform/wallet-protocol/callbacks';
import { decimal, minorUnits } from '@platform/wallet-protocol/money';
import { createRequestSignatures, readSignature } from '@platform/wallet-protocol/signing';
import { createRandom } from '../src/random.ts';
import type { Fault } from './faults.ts';
import { behindNetwork, noTrouble, type Trouble } from './unreliable-network.ts';
import { createWallet, game, type Request } from './wallet.ts';

export const secret = 'a secret for tests';
const currency = 'EUR';

const requests = {
  authenticate: AuthenticateRequest,
  debit: DebitRequest,
  credit: CreditRequest,
  balance: BalanceRequest,
  rollback: RollbackRequest,
};
type Operation = keyof typeof requests;
const isOperation = (text: string): text is Operation => Object.hasOwn(requests, text);

type Fields = Partial<
  Record<'transactionId' | 'reverseTransactionId' | 'roundId' | 'amount' | 'gameCode' | 'currency', string>
> & { playerId: string; roundClosed?: boolean };

interface Body {
  status: string;
  balance?: string;
  accountCurrency?: string;
}

const requestOf = (operation: Request['operation'], fields: Fields): Request => {
  const { playerId, transactionId, reverseTransactionId, roundId, amount, roundClosed, gameCode } = fields;
  return {
    player: playerId,
    operation,
    ...(transactionId !== undefined && { transaction: transactionId }),
    ...(reverseTransactionId !== undefined && { reverses: reverseTransactionId }),
    ...(roundId !== undefined && { round: roundId }),
    ...(amount !== undefined && { amount: minorUnits(amount) }),
    ...(roundClosed !== undefined && { closes: roundClosed }),
    ...(gameCode !== undefined && { game: gameCode }),
  };
};

export interface ServerOptions {
  seed: number;
  fault?: Fault | undefined;
  trouble?: Trouble;
}

/** Starts an HTTP server for a wallet with the players `ada` and `bob`. Disposal stops it. */
export const startWallet = async ({ seed, fault, trouble = noTrouble }: ServerOptions) => {
  const random = createRandom(seed);
  const clock = { now: () => performance.now(), sleep: (ms: number) => sleep(ms) };
  const players = [
    ['ada', 1_000_000],
    ['bob', 4_321],
  ] as const;
  const wallet = createWallet({ players, random, now: clock.now, fault });
  const answer = behindNetwork(wallet, { clock, random, trouble });
  const signatures = createRequestSignatures({ secrets: { current: secret } });

  /** Resolves with the body of the answer; undefined when the connection is lost. */
  const decide = async (operation: Operation, fields: Fields): Promise<Body | undefined> => {
    const balance = wallet.balanceOf(fields.playerId);
    const { gameCode = game } = fields;
    if (balance === undefined) return { status: 'ERROR_UNKNOWN' };
    if (gameCode !== game && operation === 'authenticate') return { status: 'ERROR_INVALID_GAME' };
    if (operation === 'authenticate')
      return fields.currency === currency
        ? { status: 'OK', balance: decimal(balance), accountCurrency: currency }
        : { status: 'ERROR_WRONG_CURRENCY' };
    const result = await answer(requestOf(operation, fields));
    return (
      result && {
        status: result.status ?? '',
        ...(result.balance !== null && { balance: decimal(result.balance) }),
      }
    );
  };

  const handle = async (req: IncomingMessage): Promise<{ http: number; body: object } | undefined> => {
    const operation = (req.url ?? '').replace('/callback/', '');
    const bytes = await buffer(req);
    if (req.method !== 'POST' || !isOperation(operation)) return { http: 404, body: {} };
    const value = jsonOf(bytes);
    const requestId = requestIdOf(value);
    const { ok } = signatures.verify({ ...readSignature(req.headers), path: req.url ?? '', body: bytes });
    if (!ok) return { http: 401, body: { requestId, status: 'ERROR_INVALID_SIGNATURE' } };
    const parsed = bytes.length > 100_000 ? undefined : requests[operation].safeParse(value);
    if (!parsed?.success) return { http: 200, body: { requestId, status: 'ERROR_WRONG_SYNTAX' } };
    const body = await decide(operation, parsed.data);
    return body && { http: 200, body: { requestId, ...body } };
  };

  const server = createServer((req, res) => {
    void handle(req).then(
      (reply) =>
        reply === undefined ? res.destroy() : res.writeHead(reply.http).end(JSON.stringify(reply.body)),
      () => res.destroy(),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    target: {
      url: `http://127.0.0.1:${port}`,
      secret,
      player: 'ada',
      currency,
      game,
      signatureString: 'timestamp+path+body' as const,
    },
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
