import { randomUUID } from 'node:crypto';
import { request, type RequestOptions } from 'node:http';
import { request as secureRequest } from 'node:https';
import { signatureOf, signatureStrings, type SignatureString } from '@platform/wallet-protocol/signing';

export interface Target {
  /** {callback_url}: the address to which `/callback/…` is appended. */
  url: string;
  secret: string;
  /** A player with at least 100.00, used by nothing else during the test. */
  player: string;
  currency: string;
  game: string;
  signatureString: SignatureString;
  /** A second player, with at least 1.00, for the cases that need two. */
  otherPlayer?: string | undefined;
  /** Whether transaction ids are unique over all players (default) or per player. */
  transactionIds?: 'global' | 'player' | undefined;
  /** Aborts all requests. */
  deadline?: AbortSignal | undefined;
}

export interface Reply {
  http: number;
  /** The body as received. */
  text: string;
  requestId?: unknown;
  status?: unknown;
  balance?: unknown;
  [more: string]: unknown;
}

/** Deliberate differences from a correct request. */
export interface Deviations {
  /** Replace the correct header values; a list sends the header several times, null omits it. */
  timestamp?: string | string[] | null;
  signature?: string | string[] | null;
  /** The path and body to sign instead of the ones that are sent. */
  signedPath?: string;
  signedBody?: string;
  secret?: string;
  method?: string;
}

export type Fields = Record<string, unknown>;

const maxAnswerBytes = 1_048_576;

/**
 * Sends a request and resolves with the answer; rejects when no complete answer arrives. Uses node:http, because a test may
 * need requests that fetch does not send.
 */
const sendRaw = (
  url: URL,
  options: RequestOptions,
  body: string | Buffer,
): Promise<{ http: number; text: string }> =>
  new Promise((resolve, reject) => {
    const open = url.protocol === 'https:' ? secureRequest : request;
    const sent = open(url, options, (res) => {
      const chunks: Buffer[] = [];
      let length = 0;
      res.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length > maxAnswerBytes)
          res.destroy(new Error(`the answer has more than ${maxAnswerBytes} bytes`));
      });
      res.on('end', () => resolve({ http: res.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
      res.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });

/** The fields of a JSON object; empty for any other text. */
const objectOf = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
};

/** Converts an amount with two decimals to minor units; undefined for anything else. */
export const minorOf = (value: unknown): bigint | undefined =>
  typeof value === 'string' && /^\d+\.\d\d$/.test(value) ? BigInt(value.replace('.', '')) : undefined;

/** The path of a callback below {callback_url}. */
export const callbackPath = ({ pathname }: URL, callback: string): string =>
  `${pathname.replace(/\/$/, '')}/callback/${callback}`;

/** New ids, as a game server creates them. */
export const newIds = () => ({ transactionId: randomUUID(), roundId: randomUUID() });

interface BackendOptions extends Pick<Target, 'url' | 'secret' | 'deadline'> {
  /** Default `timestamp+path+body`. */
  signatureString?: SignatureString | undefined;
  /** How long a complete answer may take; default 10 s. */
  limitMs?: number;
}

/** Returns a function that signs and sends one request. It rejects when no complete answer arrives in time. */
export const openBackend = ({ url, limitMs = 10_000, deadline, ...signing }: BackendOptions) => {
  const base = new URL(url);
  const parts = signatureStrings[signing.signatureString ?? 'timestamp+path+body'];
  return async (callback: string, body: string | Buffer, deviations: Deviations = {}): Promise<Reply> => {
    const path = callbackPath(base, callback);
    const now = String(Math.floor(Date.now() / 1000));
    const { timestamp = now, secret = signing.secret, signedPath = path, signedBody = body } = deviations;
    const firstTimestamp = Array.isArray(timestamp) ? timestamp[0] : timestamp;
    const signed = { timestamp: firstTimestamp ?? now, path: signedPath, body: signedBody };
    const { method = 'POST', signature = signatureOf(secret, parts, signed) } = deviations;
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
      ...(timestamp !== null && { 'X-Timestamp': timestamp }),
      ...(signature !== null && { 'X-HMAC-SHA256': signature }),
    };
    const limit = AbortSignal.timeout(limitMs);
    const signal = deadline ? AbortSignal.any([deadline, limit]) : limit;
    const options = { method, headers, signal };
    const answer = await sendRaw(new URL(path, base), options, body).catch((error: unknown) => {
      if (deadline?.aborted) throw new Error('the time limit of --within is over');
      throw limit.aborted ? new Error(`no complete answer within ${limitMs} ms`) : error;
    });
    return { ...objectOf(answer.text), ...answer };
  };
};

/** The callbacks of one player at one backend, signed as by a game server. */
export type Wallet = ReturnType<typeof openWallet>;

export const openWallet = (target: Target) => {
  const { player: playerId, currency, game } = target;
  const raw = openBackend(target);
  const send = (callback: string, fields?: Fields, deviations?: Deviations): Promise<Reply> =>
    raw(callback, JSON.stringify({ requestId: randomUUID(), playerId, ...fields }), deviations);
  return {
    target,
    raw,
    authenticate: (fields?: Fields) => send('authenticate', { currency, gameCode: game, ...fields }),
    debit: (fields?: Fields, deviations?: Deviations) =>
      send('debit', { ...newIds(), gameCode: game, amount: '1.00', ...fields }, deviations),
    credit: (fields?: Fields) =>
      send('credit', { ...newIds(), gameId: game, amount: '1.00', roundClosed: true, ...fields }),
    rollback: (fields?: Fields) =>
      send('rollback', {
        ...newIds(),
        reverseTransactionId: randomUUID(),
        gameId: game,
        roundClosed: false,
        ...fields,
      }),
    balance: (fields?: Fields) => send('balance', fields),
    /** Reads the current balance, in minor units. */
    money: async (): Promise<bigint> => {
      const { status, balance, text } = await send('balance');
      const minor = minorOf(balance);
      if (status !== 'OK' || minor === undefined) throw new Error(`the balance could not be read: ${text}`);
      return minor;
    },
  };
};
