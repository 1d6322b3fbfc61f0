/** Whether the scopes of a caller allow this one: `X:write` and `X:admin` include `X:read`. */
export const hasScope = (scopes: ReadonlySet<string>, scope: string): boolean => {
  if (scopes.has(scope)) return true;
  const [family, right] = scope.split(':');
  return right === 'read' && (scopes.has(`${family}:write`) || scopes.has(`${family}:admin`));
};
