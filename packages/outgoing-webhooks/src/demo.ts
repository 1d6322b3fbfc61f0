import type { Sql } from 'postgres';

/**
 * Inserts the paused subscriptions of the examples, which belong to the subject of `token`: one for most operations, one to
 * be deleted (`deleteSubscription.id`).
 */
export const demoSubscription = async (sql: Sql, token: string, list: string): Promise<void> => {
  const [, payload = ''] = token.split('.');
  const { sub, scope } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, string>;
  const rights = { subject: sub, scopes: scope?.split(' '), stores: null, clients: null };
  await sql`
    insert into subscriptions (id, subject, rights, url, lists, actions, ordering, state, position)
    select id, ${String(sub)}, ${JSON.stringify(rights)}::text::jsonb, 'https://shop.example.test/changes',
      ${[list]}, ${['created', 'updated', 'deleted']}, 'record', 'paused', (select position from feed_state)
    from unnest(${['0198c5a0-7e57-7f00-8000-000000000001', '0198c5a0-7e57-7f00-8000-000000000002']}::uuid[]) as id
    on conflict (id) do update set subject = excluded.subject`;
};
