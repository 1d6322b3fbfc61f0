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
  /** The game server stores these with its session and does not interpret them. */
  details: Record<string, unknown>;
}

export interface GameServer {
  /** Opens a game. Resolves with the game server's answer; before that the game server calls `authenticate` here. */
  launch(order: LaunchOrder): Promise<Record<string, unknown>>;
  /** The codes of the currencies that the game server supports. */
  currencies(): Promise<string[]>;
}

/** The configured game server. Throws Unavailable `no_game_server`. */
export const serverOf = ({ gameServer }: { gameServer: GameServer | undefined }): GameServer => {
  if (gameServer === undefined)
    throw new Unavailable(
      'no_game_server',
      'No game server is configured: set GAME_SERVER_URL and OPERATOR_ID.',
    );
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

/** The problem for a refusal of the game server, with its reason. */
const refusalProblem = (status: number, answer: unknown): Problem => {
  const { code, error, title } = Answer.safeParse(answer).data ?? {};
  const reason = [code, error, title].find((field) => typeof field === 'string') ?? `status ${status}`;
  return new Problem({
    status: 422,
    code: 'game_server_refused',
    detail: `The game server refused: ${reason.slice(0, 200)}.`,
  });
};

/** Maximum calls in progress. They do not count as requests in progress, so they do not block callbacks. */
const maxCalls = 200;
const maxCallsPerGame = 100;
const maxCallsPerPlayer = 5;
/** Maximum number of games, and of players, whose calls in progress are counted. */
const maxCounted = 10_000;

/**
 * Client of the operator interface of the game server. Requests are signed like the callbacks and have X-Operator-ID. With
 * more than 200 calls in progress, 100 of a game or 5 of a player, the next call fails immediately: so only few launches
 * wait for an unavailable game server, and a game or player that it does not answer cannot block the others.
 */
export const createGameServer = ({
  url,
  operatorId,
  signatures,
  limitMs = 5000,
}: GameServerOptions): GameServer => {
  const calls = wrap(bulkhead(maxCalls), timeout(limitMs, TimeoutStrategy.Aggressive));
  const games = createLru(maxCounted, 0, () => bulkhead(maxCallsPerGame));
  const players = createLru(maxCounted, 0, () => bulkhead(maxCallsPerPlayer));
  const currenciesCircuit = circuitBreaker(
    handleWhen((error) => !(error instanceof Problem) || error.status === 503),
    { halfOpenAfter: 10_000, breaker: new ConsecutiveBreaker(5) },
  );
  const base = new URL(url);

  const send = async (path: string, body: string | undefined, signal: AbortSignal): Promise<unknown> => {
    const target = base.pathname.replace(/\/$/, '') + path;
    const { status, read } = await sendRequest(new URL(target, base), {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'X-Operator-ID': operatorId,
        ...signatures.headers(target, body ?? ''),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      body,
      // The address is configuration, and the game server may be in the same private network.
      addresses: 'any',
      signal,
    });
    const content = jsonOf(await read());
    // Redirects are not followed, because the signature is valid for this address only.
    if (status >= 500 || (status >= 300 && status < 400)) throw unavailable(new Error(`status ${status}`));
    if (status >= 400) throw refusalProblem(status, content);
    return content;
  };

  /** Sends a POST with `body`, or a GET without one. */
  const call = async <T>(schema: z.ZodType<T>, policy: IPolicy, path: string, body?: string): Promise<T> => {
    try {
      const answer = await waitUncounted(() =>
        policy.execute(({ signal }: ICancellationContext) => send(path, body, signal)),
      );
      return schema.parse(answer);
    } catch (error) {
      // A timeout, no connection, not sent at all (circuit open, too many calls) or an invalid answer: the caller can only
      // try again.
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
