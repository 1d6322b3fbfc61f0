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
  const servers = publicUrl === undefined ? {} : { servers: [{ url: publicUrl + api.basePath }] };
  const system = systemRoutes(context, () => ({ ...document(), ...servers })).map((route) =>
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
