import { makePathToken } from '@platform/auth/path-tokens';
import { ormOf } from '@platform/service-kit/db';
import { withSecretIdempotencyKey, type Repeatable } from '@platform/service-kit/idempotency';
import { oneAtATime } from '@platform/service-kit/one-at-a-time';
import { eq, sql } from 'drizzle-orm';
import type { TransactionSql } from 'postgres';
import type { Context } from '../context.ts';
import { stores, webhookTokens } from '../db/tables.ts';
import { webhookUrls } from './domain.ts';
import { findStoreToChange } from './queries.ts';
import type { TokenPurpose } from './settings.ts';
import { storeLock } from './use-cases.ts';

/** Maximum number of replaced tokens per store and purpose. If there are more, those that expire first are deleted. */
const maxReplaced = 20;

/** Creates a new token for `purpose`; the old ones work for another `graceSeconds`. Throws NotFound. */
export const rotateToken = async (
  { env, database, rotations }: Context,
  storeId: string,
  { graceSeconds, for: purpose }: { graceSeconds: number; for: TokenPurpose },
  request: Repeatable,
) => {
  const { token, tokenHash } = makePathToken();
  const rotate = async (tx: TransactionSql) => {
    const db = ormOf(tx, database);
    const { settings } = await findStoreToChange(db, storeId);
    // Other instances find the changed tokens by the `updatedAt` of the store.
    const [{ until } = { until: '' }] = await db
      .update(stores)
      .set({ updatedAt: sql`now()` })
      .where(eq(stores.id, storeId))
      .returning({ until: sql<string>`now() + ${graceSeconds} * interval '1 s'`.mapWith(stores.updatedAt) });
    const { graceUntil } = webhookTokens;
    const hasPurpose = sql`${webhookTokens.storeId} = ${storeId} and ${webhookTokens.purpose} = ${purpose}`;
    const replaced = await db
      .update(webhookTokens)
      .set({ graceUntil: until })
      .where(sql`${hasPurpose} and (${graceUntil} is null or ${graceUntil} > ${until})`)
      .returning({ tokenHash: webhookTokens.tokenHash, graceUntil });
    const deleted = await db
      .delete(webhookTokens)
      .where(
        sql`token_hash in (
          select token_hash from webhook_tokens where ${hasPurpose} order by grace_until desc, token_hash offset ${maxReplaced})`,
      )
      .returning({
        tokenHash: webhookTokens.tokenHash,
        graceUntil: sql`least(${graceUntil}, now())`.mapWith(graceUntil),
      });
    await db.insert(webhookTokens).values({ storeId, purpose, tokenHash, createdAt: sql`now()` });
    return { settings, until, replaced: [...replaced, ...deleted] };
  };
  const name = () => `a token of /v1/stores/${storeId}`;
  const { settings, until, replaced } = await oneAtATime(
    database.sql,
    storeLock(storeId, request.owner),
    () => withSecretIdempotencyKey(database.sql, request, rotate, name),
  );
  await rotations.announce(replaced);
  return {
    webhookToken: token,
    webhookUrls: webhookUrls(env.PUBLIC_URL, settings, { [purpose]: token }),
    previousWorksUntil: until,
  };
};
