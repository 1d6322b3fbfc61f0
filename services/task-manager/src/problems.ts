import type { Route } from '@platform/service-kit/route';

/** Adds statuses of problems to the documents of operations, by their ids. */
export const withProblems = (routes: Route[], statuses: Record<string, readonly number[]>): Route[] =>
  routes.map((route) => ({
    ...route,
    problems: [...(route.problems ?? []), ...(statuses[route.operationId] ?? [])],
  }));
