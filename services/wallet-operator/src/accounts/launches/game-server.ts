import { jsonOf } from '@platform/wallet-protocol/body';
import type { RequestSignatures } from '@platform/wallet-protocol/signing';
import { createLru } from '@platform/service-kit/lru';
import { sendRequest } from '@platform/service-kit/outbound';
import { Problem, Unavailable } from '@platform/service-kit/problem';
import { waitUncounted } from '@platform/service-kit/request-scope';
import {
  bulkhead,
  circuitBreaker,
  ConsecutiveBreaker,
  handleWhen,
  timeout,
  TimeoutStrategy,
  wrap,
  type ICancellationContext,
  type IPolicy,
} from 'cockatiel';
import { z } from 'zod';

export interface LaunchOrder {
  playerId: string;
  currency: string;
  gameCode: string;
  countryCode: string;
  /** The game server keeps them with its session and does not interpret them. */
  details: Record<string, unknown>;
}

export interface GameServer {
  /** The game server's own answer. It calls `authenticate` here before it gives one. */
  launch(order: LaunchOrder): Promise<Record<string, unknown>>;
  /** Codes of the currencies it knows. */
  currencies(): Promise<string[]>;
}

/** Throws Unavailable `no_game_server`. */
export const serverOf = ({ gameServer }: { gameServer: GameServer | undefined }): GameServer => {
  if (gameServer === undefined)
    throw new Unavailable('no_game_server', 'No game server is set: GAME_SERVER_URL and OPERATOR_ID.');
  return gameServer;
};

export interface GameServerOptions {
  url: string;
  operatorId: string;
  signatures: RequestSignatures;
  /** Time limit of a call; default 5 s. */
  limitMs?: number;
}

const Answer = z.record(z.string(), z.unknown());
const Code = z.union([
  z.string(),
  z.object({ code: z.string() }).transform(({ code }) => code),
  z.object({ currency: z.string() }).transform(({ currency }) => currency),
]);
const Codes = z.union([
  z.array(Code),
  z.object({ currencies: z.array(Code) }).transform(({ currencies }) => currencies),
]);

const unavailable = (cause: unknown) =>
  new Unavailable('game_server_unavailable', 'The game server does not answer; try again shortly.', cause);

/** The game server refused. Its own reason is passed on to the caller. */
const refused = (status: number, answer: unknown): Problem => {
  const { code, error, title } = Answer.safeParse(answer).data ?? {};
  const reason = [code, error, title].find((one) => typeof one === 'string') ?? `status ${status}`;
  return new Problem({
    status: 422,
    code: 'game_server_refused',
    detail: `The game server refused: ${reason.slice(0, 200)}.`,
  });
};

/** Calls in progress. They are not part of the requests in progress, so that they keep no callbacks out. */
const maxCalls = 200;
const maxOfGame = 100;
const maxOfPlayer = 5;
/** Games, and players, whose calls in progress are counted. */
const mostCounted = 10_000;

/**
 * The operator interface of the game server: signed like the callbacks, plus X-Operator-ID. A call ends after the limit.
 * Beyond 200 calls in progress, 100 of a game or 5 of a player the next one fails at once, so that few launches wait for a
 * game server that is away, and neither a game nor a player that it does not answer closes it for others.
 */
export const createGameServer = ({
  url,
  operatorId,
  signatures,
  limitMs = 5000,
}: GameServerOptions): GameServer => {
  const calls = wrap(bulkhead(maxCalls), timeout(limitMs, TimeoutStrategy.Aggressive));
  const games = createLru(mostCounted, 0, () => bulkhead(maxOfGame));
  const players = createLru(mostCounted, 0, () => bulkhead(maxOfPlayer));
  const currenciesCircuit = circuitBreaker(
    handleWhen((error) => !(error instanceof Problem) || error.status === 503),
    { halfOpenAfter: 10_000, breaker: new ConsecutiveBreaker(5) },
  );
  const base = new URL(url);

  const ask = async (path: string, body: string | undefined, signal: AbortSignal): Promise<unknown> => {
    const target = base.pathname.replace(/\/$/, '') + path;
    const { status, read } = await sendRequest(new URL(target, base), {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'X-Operator-ID': operatorId,
        ...signatures.headers(target, body ?? ''),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      body,
      // The operator sets the address, and the game server may be in the same private network.
      addresses: 'any',
      signal,
    });
    const content = jsonOf(await read());
    // A redirect is not followed, because the signature is for this address.
    if (status >= 500 || (status >= 300 && status < 400)) throw unavailable(new Error(`status ${status}`));
    if (status >= 400) throw refused(status, content);
    return content;
  };

  /** A POST when there is a body, else a GET. */
  const call = async <T>(schema: z.ZodType<T>, policy: IPolicy, path: string, body?: string): Promise<T> => {
    try {
      const answer = await waitUncounted(() =>
        policy.execute(({ signal }: ICancellationContext) => ask(path, body, signal)),
      );
      return schema.parse(answer);
    } catch (error) {
      // A time-out, no connection, not sent at all (circuit open, too many calls) or an answer that cannot be read: the
      // caller can only try again.
      throw error instanceof Problem ? error : unavailable(error);
    }
  };

  return {
    launch: (order) => {
      const policy = wrap(players.memo(order.playerId), games.memo(order.gameCode), calls);
      return call(Answer, policy, '/operator/launch', JSON.stringify(order));
    },
    currencies: () => call(Codes, wrap(currenciesCircuit, calls), '/operator/currencies'),
  };
};
