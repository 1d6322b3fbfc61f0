import { Problem } from '@platform/service-kit/problem';
import { askRedis } from '@platform/service-kit/redis';
import { route, type Route } from '@platform/service-kit/route';
import { instant } from '@platform/service-kit/text';
import { jsonOf } from '@platform/wallet-protocol/body';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { currencyOf } from '../ledger/domain.ts';
import { serverOf, type GameServer } from './launches/game-server.ts';

const CurrencyList = z
  .object({
    currencies: z.array(z.string()),
    fetchedAt: instant(),
    stale: z.boolean().meta({ description: 'The game server is away; this is the last good copy' }),
  })
  .meta({ id: 'CurrencyList' });

const Copy = z.object({ currencies: z.array(z.string()), fetchedAt: z.iso.datetime() });
type Copy = z.output<typeof Copy>;

const keyOf = ({ env }: Context): string => `wallet-operator:currencies:${env.GAME_SERVER_URL}`;
const freshMs = 300_000;
/** Without Redis, each process keeps its own last good copy. */
const lastGood = new WeakMap<GameServer, Copy>();

const kept = async (ctx: Context, server: GameServer): Promise<Copy | undefined> => {
  const text = await askRedis(ctx.redis, (redis) => redis.get(keyOf(ctx)));
  const copy = text ? Copy.safeParse(jsonOf(Buffer.from(text))).data : undefined;
  return copy ?? lastGood.get(server);
};

/** The game server's currencies: fetched at most every five minutes; the last good copy while it cannot be reached. */
const listCurrencies = async (ctx: Context): Promise<z.input<typeof CurrencyList>> => {
  const server = serverOf(ctx);
  const copy = await kept(ctx, server);
  const now = ctx.now();
  if (copy !== undefined && Math.abs(now.getTime() - Date.parse(copy.fetchedAt)) < freshMs)
    return { ...copy, stale: false };
  try {
    const fresh = { currencies: await server.currencies(), fetchedAt: now.toISOString() };
    lastGood.set(server, fresh);
    await askRedis(ctx.redis, (redis) => redis.set(keyOf(ctx), JSON.stringify(fresh)));
    return { ...fresh, stale: false };
  } catch (error) {
    if (copy === undefined) throw error;
    return { ...copy, stale: true };
  }
};

/** Those of ISO 4217. Of any other code it is not known how many decimals its amounts have. */
const codes = new Set(Intl.supportedValuesOf('currency'));

/** Those of ISO 4217 with more than two decimals for which `Intl`, which follows habits of writing, has fewer. */
const writtenShorter = new Set(['IQD']);

/** Whether amounts with two decimals can hold all amounts of a currency. */
const fitsTwoDecimals = (currency: string): boolean =>
  codes.has(currency) &&
  !writtenShorter.has(currency) &&
  (new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ??
    0) <= 2;

const dayMs = 86_400_000;

/**
 * The code by which the wallet keeps a currency. Throws Problem `currency_not_supported` for a currency whose amounts
 * cannot be booked, and for one that is not on the last good copy of the game server's list, where there is one of the
 * last 24 hours: nothing is fetched. A list without any code of ISO 4217 is a mistake, and refuses nothing.
 */
export const supportedCurrency = async (ctx: Context, code: string): Promise<string> => {
  const currency = currencyOf(code);
  const refuse = (detail: string) =>
    new Problem({ status: 422, code: 'currency_not_supported', detail: `${currency} ${detail}` });
  if (!fitsTwoDecimals(currency)) throw refuse('is no currency of ISO 4217 with at most two decimals.');
  const copy = ctx.gameServer && (await kept(ctx, ctx.gameServer));
  if (copy === undefined || ctx.now().getTime() - Date.parse(copy.fetchedAt) > dayMs) return currency;
  const listed = copy.currencies.map(currencyOf);
  if (listed.some((listedCode) => codes.has(listedCode)) && !listed.includes(currency))
    throw refuse('is not a currency of the game server.');
  return currency;
};

export const currencyRoute = (context: Context): Route =>
  route(
    {
      method: 'get',
      path: '/v1/currencies',
      operationId: 'listCurrencies',
      tag: 'Launches',
      summary: 'The currencies of the game server',
      auth: context.tokens.guard('wallet:admin'),
      responses: { 200: { description: 'Their codes', body: CurrencyList } },
    },
    async () => ({ status: 200, body: await listCurrencies(context) }),
  );
