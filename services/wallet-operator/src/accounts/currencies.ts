import { Problem } from '@platform/service-kit/problem';
import { askRedis } from '@platform/service-kit/redis';
import { route, type Route } from '@platform/service-kit/route';
import { instant } from '@platform/service-kit/text';
import { jsonOf } from '@platform/wallet-protocol/body';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { normalizeCurrency } from '../ledger/domain.ts';
import { serverOf, type GameServer } from './launches/game-server.ts';

const CurrencyList = z
  .object({
    currencies: z.array(z.string()),
    fetchedAt: instant(),
    stale: z.boolean().meta({ description: 'The game server is unavailable; this is the last valid list' }),
  })
  .meta({ id: 'CurrencyList' });

const CachedList = z.object({ currencies: z.array(z.string()), fetchedAt: z.iso.datetime() });
type CachedList = z.output<typeof CachedList>;

const keyOf = ({ env }: Context): string => `wallet-operator:currencies:${env.GAME_SERVER_URL}`;
const freshMs = 300_000;
/** Fallback when Redis is unavailable: the last valid list, by game server because tests start several services in one process. */
const localCache = new WeakMap<GameServer, CachedList>();

const readCache = async (ctx: Context, server: GameServer): Promise<CachedList | undefined> => {
  const text = await askRedis(ctx.redis, (redis) => redis.get(keyOf(ctx)));
  const cached = text ? CachedList.safeParse(jsonOf(Buffer.from(text))).data : undefined;
  return cached ?? localCache.get(server);
};

/** The game server's currencies: fetched at most every five minutes; the cached list while the server is unavailable. */
const listCurrencies = async (ctx: Context): Promise<z.input<typeof CurrencyList>> => {
  const server = serverOf(ctx);
  const cached = await readCache(ctx, server);
  const now = ctx.now();
  // Absolute, because another instance with a fast clock may have stored the list.
  if (cached !== undefined && Math.abs(now.getTime() - Date.parse(cached.fetchedAt)) < freshMs)
    return { ...cached, stale: false };
  try {
    const fresh = { currencies: await server.currencies(), fetchedAt: now.toISOString() };
    localCache.set(server, fresh);
    await askRedis(ctx.redis, (redis) => redis.set(keyOf(ctx), JSON.stringify(fresh)));
    return { ...fresh, stale: false };
  } catch (error) {
    if (cached === undefined) throw error;
    return { ...cached, stale: true };
  }
};

/** The codes of ISO 4217. For other codes the number of decimals is unknown. */
const isoCodes = new Set(Intl.supportedValuesOf('currency'));

/** Currencies for which ISO 4217 has more than two decimals, but `Intl`, which follows common notation, has fewer. */
const moreDecimalsThanIntl = new Set(['IQD']);

/** Whether two decimals are enough for all amounts of a currency. */
const fitsTwoDecimals = (currency: string): boolean =>
  isoCodes.has(currency) &&
  !moreDecimalsThanIntl.has(currency) &&
  (new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ??
    0) <= 2;

const dayMs = 86_400_000;

/**
 * Returns the code with which the wallet stores a currency. Throws Problem `currency_not_supported` for a currency with
 * more than two decimals, and, if the cached list of the game server is at most 24 hours old, for a currency that is not on it.
 * Fetches nothing. Ignores a list without any ISO 4217 code, which must be a mistake.
 */
export const supportedCurrency = async (ctx: Context, code: string): Promise<string> => {
  const currency = normalizeCurrency(code);
  const refuse = (detail: string) =>
    new Problem({ status: 422, code: 'currency_not_supported', detail: `${currency} ${detail}` });
  if (!fitsTwoDecimals(currency)) throw refuse('is not an ISO 4217 currency with at most two decimals.');
  const cached = ctx.gameServer && (await readCache(ctx, ctx.gameServer));
  if (cached === undefined || ctx.now().getTime() - Date.parse(cached.fetchedAt) > dayMs) return currency;
  const listed = cached.currencies.map(normalizeCurrency);
  if (listed.some((listedCode) => isoCodes.has(listedCode)) && !listed.includes(currency))
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
      summary: 'List the currencies of the game server',
      auth: context.tokens.guard('wallet:admin'),
      responses: { 200: { description: 'The currency codes', body: CurrencyList } },
    },
    async () => ({ status: 200, body: await listCurrencies(context) }),
  );
