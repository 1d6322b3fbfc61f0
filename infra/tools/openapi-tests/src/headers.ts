import type { IncomingHttpHeaders } from 'node:http';
import type { Ajv } from 'ajv';
import type { Header, OpenApi } from './document.ts';

/** Headers of HTTP itself, of caches, of browsers' security and of connections, which no document describes. */
const common =
  /^(?:access-control-.*|allow|cache-control|connection|content-(?:encoding|length|security-policy|type)|cross-origin-.*|date|keep-alive|referrer-policy|server|transfer-encoding|vary|x-(?:content-type-options|frame-options))$/;

/** Says which header of a response the document lacks, or that a response lacks, or whose value its schema refuses. */
export const wrongHeaders = (
  ajv: Ajv,
  { components }: OpenApi,
  described: Record<string, Header>,
  sent: IncomingHttpHeaders,
): string | undefined => {
  const known = new Map<string, Header>();
  for (const [name, header] of Object.entries(described))
    known.set(name.toLowerCase(), components.headers?.[header.$ref?.split('/').at(-1) ?? ''] ?? header);
  const unknown = Object.keys(sent).find((name) => !common.test(name) && !known.has(name));
  if (unknown !== undefined) return `has the header ${unknown}, which the document lacks`;
  for (const [name, { required, schema }] of known) {
    const value = sent[name];
    if (value === undefined && required) return `lacks the header ${name}`;
    if (value !== undefined && !ajv.compile(schema)(String(value)))
      return `has a header that its schema refuses: ${name}: ${String(value)}`;
  }
  return undefined;
};
