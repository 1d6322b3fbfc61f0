import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { signatureOf, signatureStrings, type SignatureString } from '@platform/wallet-protocol/signing';

export interface Target {
  /** {callback_url}: what `/callback/…` is appended to. */
  url: string;
  secret: string;
  /** A player with at least 100.00 that nobody else uses meanwhile. */
  player: string;
  currency: string;
  game: string;
  signatureString: SignatureString;
  /** A second player, with at least 1.00, for the cases that need two. */
  otherPlayer?: string | undefined;
  /** Whether the backend takes transaction ids as unique over all players (default) or for each player. */
  transactionIds?: 'global' | 'player' | undefined;
  /** Ends all requests. */
  deadline?: AbortSignal | undefined;
}

export interface Reply {
  http: number;
  /** The body as it came. */
  text: string;
  requestId?: unknown;
  status?: unknown;
  balance?: unknown;
  [more: string]: unknown;
}

/** How a request differs from a correct one. */
export interface Deviations {
  /** Header values instead of the right ones; a list sends the header more than once, null leaves it out. */
  timestamp?: string | string[] | null;
  signature?: string | string[] | null;
  /** Signed instead of what is sent. */
  signedPath?: string;
  signedBody?: string;
  secret?: string;
  method?: string;
}

export type Fields = Record<string, unknown>;

const maxAnswer = 1_048_576;

/** A request to a wallet, which may be one that no client should send. */
interface Exchange {
  method: string;
  headers: Record<string, string | string[]>;
  body: string | Buffer;
  deadline: AbortSignal | undefined;
  limitMs: number;
}

/** Rejects when no whole answer arrives in time. */
const exchange = (
  url: URL,
  { method, headers, body, deadline, limitMs }: Exchange,
): Promise<{ http: number; text: string }> =>
  new Promise((resolve, reject) => {
    const limit = AbortSignal.timeout(limitMs);
    const signal = deadline ? AbortSignal.any([deadline, limit]) : limit;
    const fail = (error: Error): void => {
      if (deadline?.aborted) reject(new Error('the time of --within is over'));
      else reject(limit.aborted ? new Error(`no whole answer within ${limitMs} ms`) : error);
    };
    const open = url.protocol === 'https:' ? secureRequest : request;
    const sent = open(url, { method, headers, signal }, (res) => {
      const chunks: Buffer[] = [];
      let length = 0;
      res.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length > maxAnswer) res.destroy(new Error(`the answer has more than ${maxAnswer} bytes`));
      });
      res.on('end', () => resolve({ http: res.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
      res.on('error', fail);
    });
    sent.on('error', fail);
    sent.end(body);
  });

/** The fields of a JSON object; none for any other text. */
const objectOf = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
};

/** Two decimals as minor units; undefined for anything else. */
export const minorOf = (value: unknown): bigint | undefined =>
  typeof value === 'string' && /^\d+\.\d\d$/.test(value) ? BigInt(value.replace('.', '')) : undefined;

/** The path of a callback at {callback_url}. */
export const callbackPath = ({ pathname }: URL, callback: string): string =>
  `${pathname.replace(/\/$/, '')}/callback/${callback}`;

/** New ids, as a game server creates them. */
export const newIds = () => ({ transactionId: randomUUID(), roundId: randomUUID() });

/** A wallet to send requests to. */
interface Backend extends Pick<Target, 'url' | 'secret' | 'deadline'> {
  /** Default `timestamp+path+body`. */
  signatureString?: SignatureString | undefined;
  /** How long a whole answer may take, however slowly it comes; default 10 s. */
  limitMs?: number;
}

/** Returns the function that signs and sends one request. It rejects when no whole answer arrives in time. */
export const openBackend = ({ url, limitMs = 10_000, deadline, ...signing }: Backend) => {
  const base = new URL(url);
  const parts = signatureStrings[signing.signatureString ?? 'timestamp+path+body'];
  return async (callback: string, body: string | Buffer, deviations: Deviations = {}): Promise<Reply> => {
    const path = callbackPath(base, callback);
    const now = String(Math.floor(Date.now() / 1000));
    const { timestamp = now, secret = signing.secret, signedPath = path, signedBody = body } = deviations;
    const signed = { timestamp: [timestamp].flat()[0] ?? now, path: signedPath, body: signedBody };
    const { method = 'POST', signature = signatureOf(secret, parts, signed) } = deviations;
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
      ...(timestamp !== null && { 'X-Timestamp': timestamp }),
      ...(signature !== null && { 'X-HMAC-SHA256': signature }),
    };
    const answer = await exchange(new URL(path, base), { method, headers, body, deadline, limitMs });
    return { ...objectOf(answer.text), ...answer };
  };
};

/** The callbacks of one player at one backend, signed as a game server signs them. */
export type Wallet = ReturnType<typeof openWallet>;

export const openWallet = (target: Target) => {
  const { player: playerId, currency, game } = target;
  const raw = openBackend(target);
  const send = (callback: string, fields?: Fields, deviations?: Deviations): Promise<Reply> =>
    raw(callback, JSON.stringify({ requestId: randomUUID(), playerId, ...fields }), deviations);
  return {
    target,
    raw,
    send,
    authenticate: (fields?: Fields) => send('authenticate', { currency, gameCode: game, ...fields }),
    debit: (fields?: Fields) => send('debit', { ...newIds(), gameCode: game, amount: '1.00', ...fields }),
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
    /** The balance now, in minor units. */
    money: async (): Promise<bigint> => {
      const { status, balance, text } = await send('balance');
      const minor = minorOf(balance);
      if (status !== 'OK' || minor === undefined) throw new Error(`the balance could not be read: ${text}`);
      return minor;
    },
  };
};
