import type { DemoCredentials } from './demo.ts';

/** Values for path parameters that only the demo knows, by the segment before the parameter or by its name. */
type DemoIds = Readonly<Record<string, string | undefined>>;

export const demoIds = ({ questId, store }: DemoCredentials): DemoIds => ({
  quests: questId,
  stores: store?.id,
  token: store?.webhookToken,
});

interface Operation {
  /** Where it is not below the path of the service. */
  servers?: { url: string }[];
  parameters?: { name: string; in: string; example?: unknown }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
}

/** The parts of an OpenAPI document that are read here. */
export interface Document {
  paths: Record<string, Record<string, Operation>>;
}

/** The segment before a parameter: `stores` of `/v1/stores/{storeId}/events`. */
const before = (path: string, name: string): string => {
  const segments = path.split('/');
  return segments[segments.indexOf(`{${name}}`) - 1] ?? '';
};

/** Completes the values of an example that can be used only once: `my-bet` becomes `my-bet-1f2e`. */
const completed = <T>(example: T, once: string): T =>
  JSON.parse(JSON.stringify(example).replaceAll(/"my-\w+/g, `$&-${once}`)) as T;

/** The document with the values of the demo as examples, and something new in values that can be used only once. */
export const fillIn = (document: Document, ids: DemoIds, once: string): Document => {
  const filled = structuredClone(document);
  for (const [path, methods] of Object.entries(filled.paths))
    for (const { parameters = [], requestBody } of Object.values(methods)) {
      for (const parameter of parameters) {
        const known = ids[before(path, parameter.name)] ?? ids[parameter.name];
        const example = (parameter.in === 'path' ? known : undefined) ?? parameter.example;
        if (example !== undefined) parameter.example = completed(example, once);
      }
      for (const content of Object.values(requestBody?.content ?? {}))
        if (content.example !== undefined) content.example = completed(content.example, once);
    }
  return filled;
};

/** What Scalar passes before it sends a request. */
export interface Outgoing {
  request: Request;
}

const hex = (bytes: ArrayBuffer): string =>
  [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/**
 * Signs what goes to the wallet's callbacks as a game server does: HMAC-SHA256 over timestamp, path and body. Other
 * requests stay as they are.
 */
export const signCallbacks =
  (secret: string) =>
  async (request: Request): Promise<void> => {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith('/callback/')) return;
    const timestamp = String(Math.floor(Date.now() / 1000));
    const bytes = new TextEncoder();
    const use = { name: 'HMAC', hash: 'SHA-256' };
    const key = await crypto.subtle.importKey('raw', bytes.encode(secret), use, false, ['sign']);
    const text = `${timestamp}${pathname}${await request.clone().text()}`;
    request.headers.set('X-Timestamp', timestamp);
    request.headers.set('X-HMAC-SHA256', hex(await crypto.subtle.sign('HMAC', key, bytes.encode(text))));
  };
