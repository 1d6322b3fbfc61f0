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
  /** False when paths contain secrets: then the log has route templates only. */
  logPaths?: boolean;
}

export interface HttpApp {
  /** Handles every request. */
  listener: RequestListener;
  /** Handles requests to PROBE_PORT: /livez, /readyz and /metrics. */
  probes: RequestListener;
  /**
   * The OpenAPI document, written when it is first asked for. `/openapi.json` answers it with the public address of the
   * platform.
   */
  document: () => Record<string, unknown>;
}

/** Creates the listeners of a service and its OpenAPI document from its routes. */
export const createHttpApp = (
  context: BaseContext,
  { api, routes, logPaths = true }: AppOptions,
): HttpApp => {
  let written: Record<string, unknown> | undefined;
  const document = () => (written ??= createDocument(api, routes));
  const own = routes.map((route) => {
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
      routes: [...own, ...system],
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
