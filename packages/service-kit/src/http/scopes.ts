/** Whether a caller has a scope: `X:write` and `X:admin` include `X:read`. */
export const hasScope = (scopes: ReadonlySet<string>, scope: string): boolean => {
  if (scopes.has(scope)) return true;
  const [resource, action] = scope.split(':');
  return action === 'read' && (scopes.has(`${resource}:write`) || scopes.has(`${resource}:admin`));
};
