import { allowsId, type Caller } from '@platform/auth/bearer';
import { NotFound, Problem } from '@platform/service-kit/problem';
import type { Route } from '@platform/service-kit/route';
import type { Context } from './context.ts';
import { clientFields } from './db/client-fields.ts';
import type { Columns } from './records/page.ts';

/** Throws a Problem (403) for a caller whose token is limited to other clients. */
export const requireClient = ({ clients }: Caller, id = ''): void => {
  if (allowsId(clients, id)) return;
  const detail =
    'The access token is limited to some clients (claim clients), but the request concerns another client.';
  throw new Problem({ status: 403, code: 'limited_to_clients', detail });
};

/** The filters of a list, narrowed to the clients that the caller is limited to. */
export const narrowToClients = (list: string, filters: Columns, { clients }: Caller): Columns => {
  const filter = clientFields[list]?.filter;
  if (clients === undefined || filter === undefined) return filters;
  const requested = filters[filter];
  const ids = typeof requested === 'string' ? [requested].filter((id) => clients.has(id)) : [...clients];
  // The page directory supports a filter by a single value.
  return { ...filters, [filter]: ids.length === 1 ? ids[0] : { oneOf: ids } };
};

/** The clients whose records the caller requests (all, or the one in `id`) and may see; undefined for all clients. */
export const visibleClients = (
  id: string | undefined,
  { clients }: Caller,
): readonly string[] | undefined => {
  if (clients === undefined) return id === undefined ? undefined : [id];
  return [...clients].filter((client) => id === undefined || client === id);
};

/** Whether the caller may see a record of a list (JSON text): its token is not limited, or names the record's client. */
export const isVisible = (list: string, json: string, { clients }: Caller): boolean => {
  const client = clientFields[list];
  if (clients === undefined || client === undefined) return true;
  return clients.has(String((JSON.parse(json) as Record<string, unknown>)[client.field]));
};

/** Throws a Problem (403) for a change that a limited caller may not make to any record. */
const requireRight = ({ method, path }: Route, list: string, caller: Caller, body: object = {}): void => {
  const client = clientFields[list];
  const clientId = client && (body as Record<string, string | undefined>)[client.field];
  const isNew = method === 'post' && path === `/${list}`;
  if (method !== 'get' && (client === undefined || isNew || clientId !== undefined))
    requireClient(caller, clientId);
};

/**
 * Wraps a route for callers whose token is limited to some clients. They cannot create a record for another client, assign a
 * record to it or change warehouses. A record of another client, and every path below it, returns 404, also if the record
 * is assigned to that client while it is read. Changes check the client again after locking the record (`isVisible`).
 */
export const withinClients =
  ({ database: { sql } }: Context) =>
  (route: Route): Route => {
    const [, list = ''] = route.path.split('/');
    const client = clientFields[list];
    const requireOwner = async (id: string, clients: ReadonlySet<string>): Promise<void> => {
      if (client === undefined) return;
      const visibleRows = await sql`
        select from ${sql(list)} where id = ${id} and ${sql(client.column)} = any(${[...clients]}::uuid[])`;
      if (visibleRows.length === 0) throw new NotFound(client.name);
    };
    return {
      ...route,
      handle: async (input) => {
        const caller = input.caller as Caller;
        const { id } = (input.params ?? {}) as { id?: string };
        const { clients } = caller;
        if (clients === undefined) return route.handle(input);
        requireRight(route, list, caller, input.body as object | undefined);
        if (id === undefined) return route.handle(input);
        await requireOwner(id, clients);
        const answer = await route.handle(input);
        if (route.method === 'get') await requireOwner(id, clients);
        return answer;
      },
    };
  };
