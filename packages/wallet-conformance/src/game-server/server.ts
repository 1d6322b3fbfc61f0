import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createRequestSignatures, readSignature } from '@platform/wallet-protocol/signing';
import { createCaller, type Faults } from './caller.ts';
import { playRound } from './rounds.ts';

export interface StandInOptions {
  /** Base address of the operator's callbacks. */
  operatorUrl: string;
  secret: string;
  operatorId: string;
  /** Injected faults; none when undefined. */
  faults?: Faults | undefined;
  /** Rounds that are played automatically after a launch. */
  rounds?: number;
  /** The random source for bets and wins. */
  random?: (() => number) | undefined;
  onRound?(round: unknown): void;
}

/** The body of a launch request, before validation. */
type LaunchOrder = Partial<
  Record<'playerId' | 'currency' | 'gameCode' | 'countryCode', string> & {
    details: { sessionToken?: string };
  }
>;

/** Delay of a late answer: longer than the timeout of the wallet, which is 5 s. */
const lateMs = 6000;

const currencies = ['EUR', 'USD', 'GBP', 'CNY', 'RMB', 'JPY'];

const write = (res: ServerResponse, status: number, body: object): void => {
  const text = JSON.stringify(body);
  res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
  res.end(text);
};

/** The launch error for each status of `authenticate`. */
const refusals: Record<string, string> = {
  ERROR_PLAYER_DISABLED: 'player_disabled',
  ERROR_INVALID_GAME: 'invalid_game',
  ERROR_WRONG_CURRENCY: 'wrong_currency',
};

/**
 * A stand-in game server for local use. It implements the protocol in both directions: it answers signed calls of the
 * operator, and sends signed callbacks, which it retries and rolls back as the contract says.
 */
export const createStandIn = (options: StandInOptions): Server => {
  const signatures = createRequestSignatures({ secrets: { current: options.secret } });
  const { operatorUrl: url, secret, faults } = options;
  const caller = createCaller({ url, secret, faults });

  const launch = async (body: Buffer, res: ServerResponse): Promise<void> => {
    const order = JSON.parse(body.toString()) as LaunchOrder;
    const { playerId = '', currency = '', gameCode = '', countryCode, details } = order;
    // The callbacks `authenticate` and `debit` repeat the session of the operator.
    const session = { sessionToken: details?.sessionToken };
    if (!playerId || !currency || !gameCode || !countryCode)
      return write(res, 400, { code: 'invalid_request' });
    const answer = await caller.call('authenticate', { playerId, currency, gameCode, ...session });
    if (answer.http === 0) return write(res, 503, { code: 'operator_unavailable' });
    if (answer.status !== 'OK')
      return write(res, 422, { code: refusals[String(answer.status)] ?? 'operator_refused' });
    if (answer['excluded'] === true) return write(res, 422, { code: 'player_self_excluded' });
    const account = answer['accountCurrency'];
    if (account !== undefined && account !== currency) return write(res, 422, { code: 'wrong_currency' });
    const sessionToken = randomBytes(16).toString('hex');
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    write(res, 200, {
      sessionToken,
      expiresAt,
      launchUrl: `https://games.example.test/${gameCode}?token=${sessionToken}`,
    });
    const { random } = options;
    for (let round = 0; round < (options.rounds ?? 0); round++) {
      const played = await playRound(caller, { playerId, gameCode, ...session, random });
      options.onRound?.(played);
    }
  };

  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const body = await buffer(req);
    const path = req.url ?? '';
    const verdict = signatures.verify({ ...readSignature(req.headers), path, body });
    if (!verdict.ok || req.headers['x-operator-id'] !== options.operatorId)
      return write(res, 401, { code: 'unauthorized' });
    switch (faults?.drawAnswerFault()) {
      case 'late':
        await sleep(lateMs);
        break;
      case 'garbled':
        return void res.end('<html>');
      case 'error':
        return write(res, 502, { code: 'bad_gateway' });
      default:
    }
    if (req.method === 'POST' && path === '/operator/launch') return launch(body, res);
    if (req.method === 'GET' && path === '/operator/currencies') return write(res, 200, { currencies });
    write(res, 404, { code: 'not_found' });
  };

  return createServer((req, res) => {
    answer(req, res).catch(() => {
      if (!res.headersSent) write(res, 400, { code: 'invalid_request' });
    });
  });
};
