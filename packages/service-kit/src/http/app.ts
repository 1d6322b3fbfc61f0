import type { RequestListener } from 'node:http';
import type { BaseContext } from '../process/context.ts';
import { createListener } from './listener.ts';
import { createDocument, type ApiInfo } from './openapi.ts';
import type { Route } from './route.ts';
import { prepareRoute } from './run-route.ts';
import { probePaths, systemRoutes } from './system-routes.ts';

export interface AppOptions {
  api: ApiInfo;
  routes: readonly Route[];
  /** False if paths contain secrets: the log then has only route templates. */
  logPaths?: boolean;
}

export interface HttpApp {
  /** Handles every request. */
  listener: RequestListener;
  /** Handles requests to PROBE_PORT: /livez, /readyz and /metrics. */
  probes: RequestListener;
  /** Returns the OpenAPI document, which is created on the first call. `/openapi.json` adds the platform's public address. */
  document: () => Record<string, unknown>;
}

interface WithServers {
  servers?: { url: string }[];
}

/** Returns the document with absolute addresses of its servers, because tools do not resolve relative ones. */
const atPublicUrl = (document: Record<string, unknown>, publicUrl: string): Record<string, unknown> => {
  const absolute = <T extends WithServers>(part: T): T =>
    part.servers === undefined
      ? part
      : { ...part, servers: part.servers.map(({ url }) => ({ url: publicUrl + (url === '/' ? '' : url) })) };
  const { paths, ...rest } = document as { paths: Record<string, Record<string, WithServers>> };
  const withAddresses = Object.entries(paths).map(([path, operations]) => {
    const methods = Object.entries(operations).map(([method, operation]) => [method, absolute(operation)]);
    return [path, Object.fromEntries(methods)];
  });
  return { ...absolute(rest), paths: Object.fromEntries(withAddresses) };
};

/** Creates the listeners of a service and its OpenAPI document from its routes. */
export const createHttpApp = (
  context: BaseContext,
  { api, routes, logPaths = true }: AppOptions,
): HttpApp => {
  let createdDocument: Record<string, unknown> | undefined;
  const document = () => (createdDocument ??= createDocument(api, routes));
  const serviceRoutes = routes.map((route) => {
    const template = (route.basePath ?? api.basePath) + route.path;
    return prepareRoute(route, { address: template, template, limits: context });
  });
  const { publicUrl } = context;
  const servedDocument = () => (publicUrl === undefined ? document() : atPublicUrl(document(), publicUrl));
  const system = systemRoutes(context, servedDocument).map((route) =>
    prepareRoute(route, { address: route.path, template: undefined, limits: context }),
  );
  const common = { exempt: new Set(probePaths), logPaths };
  return {
    listener: createListener(context, {
      ...common,
      routes: [...serviceRoutes, ...system],
      corsOrigins: context.corsOrigins,
    }),
    probes: createListener(context, {
      ...common,
      routes: system.filter(({ address }) => probePaths.includes(address)),
      corsOrigins: [],
    }),
    document,
  };
};
