import type { OpenApi, Operation, SecurityScheme } from './document.ts';
import type { Plan } from './plan.ts';
import type { Sent } from './send.ts';

type Unsigned = Omit<Sent, 'headers'>;

/** The value without a prefix such as "Bearer", or a function that signs a request. */
export type Credential = string | ((request: Unsigned) => string);

interface Credentials {
  credentials: Record<string, Credential>;
  credentialsWithoutScope?: Record<string, Credential>;
}

const headerOf = ({ type, in: place, name = '' }: SecurityScheme, value: string): [string, string] => {
  if (type === 'http') return ['Authorization', `Bearer ${value}`];
  return place === 'cookie' ? ['Cookie', `${name}=${value}`] : [name, value];
};

/** Returns the authentication headers of a plan's caller, for one of the alternatives that the operation accepts. */
export const credentialsOf =
  ({ components }: OpenApi, { credentials, credentialsWithoutScope = {} }: Credentials) =>
  ({ security }: Operation, { caller, alternative }: Plan, request: Unsigned): Record<string, string> => {
    const valueOf = (name: string): string | undefined => {
      if (caller === 'invalid') return 'wrong.wrong.wrong';
      const credential = (caller === 'without scope' ? credentialsWithoutScope : credentials)[name];
      return typeof credential === 'function' ? credential(request) : credential;
    };
    if (caller === 'none' || security.length === 0) return {};
    const schemes = security[alternative % security.length] ?? [];
    return Object.fromEntries(
      schemes.flatMap((name) => {
        const [scheme, value] = [components.securitySchemes?.[name], valueOf(name)];
        return scheme && value !== undefined ? [headerOf(scheme, value)] : [];
      }),
    );
  };
