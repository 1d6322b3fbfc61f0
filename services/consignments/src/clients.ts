import { allowsId, type Caller } from '@platform/auth/bearer';
import { NotFound, Problem } from '@platform/service-kit/problem';
import type { Route } from '@platform/service-kit/route';
import type { Context } from './context.ts';
import { clientColumnOf, clientFields } from './db/client-fields.ts';
import type { Columns } from './records/page.ts';

/** Throws a Problem (403) for a caller whose token is limited to other clients. */
export const requireClient = ({ clients }: Caller, id = ''): void => {
  if (allowsId(clients, id)) return;
  const detail =
    'The access token is limited to some clients (claim clients), and this concerns another one.';
  throw new Problem({ status: 403, code: 'limited_to_clients', detail });
};

/** The query parameter that names the client of a record; undefined for warehouses. */
export const clientFilterOf = (list: string): string | undefined => {
  const field = clientFields[list]?.field;
  return field && `${field.charAt(0).toUpperCase()}${field.slice(1)}`;
};

/** The filters of a list, narrowed to the clients that the caller is limited to. */
export const narrowToClients = (list: string, filters: Columns, { clients }: Caller): Columns => {
  const filter = clientFilterOf(list);
  if (clients === undefined || filter === undefined) return filters;
  const asked = filters[filter];
  const ids = typeof asked === 'string' ? [asked].filter((id) => clients.has(id)) : [...clients];
  // One value is answered by the page directory.
  return { ...filters, [filter]: ids.length === 1 ? ids[0] : { oneOf: ids } };
};

/** The clients whose records of a list the caller may see and asks for; undefined for all. */
export const clientsOf = (asked: string | undefined, { clients }: Caller): readonly string[] | undefined => {
  if (clients === undefined) return asked === undefined ? undefined : [asked];
  return [...clients].filter((id) => asked === undefined || id === asked);
};

/** Whether a record of a list, as JSON text, belongs to the clients that the caller is limited to. */
export const isVisible = (list: string, json: string, { clients }: Caller): boolean => {
  const client = clientFields[list];
  if (clients === undefined || client === undefined) return true;
  return clients.has(String((JSON.parse(json) as Record<string, unknown>)[client.field]));
};

/** Throws a Problem (403) for a change that a limited caller may not make, in whatever record. */
const requireRight = ({ method, path }: Route, list: string, caller: Caller, body: object = {}): void => {
  const client = clientFields[list];
  const named = client && (body as Record<string, string | undefined>)[client.field];
  const isNew = method === 'post' && path === `/${list}`;
  if (method !== 'get' && (client === undefined || isNew || named !== undefined))
    requireClient(caller, named);
};

/**
 * A route for callers whose token may be limited to some clients. They can neither create a record for another client, nor
 * give one to it, nor change warehouses. A record of another client, and everything below its path, is 404, also where
 * somebody gave it to that client while it was read. Who changes a record looks again when it is locked (`isVisible`).
 */
export const withinClients =
  ({ database: { sql } }: Context) =>
  (route: Route): Route => {
    const [, list = ''] = route.path.split('/');
    const client = clientFields[list];
    const requireOwner = async (id: string, clients: ReadonlySet<string>): Promise<void> => {
      if (client === undefined) return;
      const column = sql(clientColumnOf(list) ?? '');
      const visible = await sql`
        select from ${sql(list)} where id = ${id} and ${column} = any(${[...clients]}::uuid[])`;
      if (visible.length === 0) throw new NotFound(client.name);
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
