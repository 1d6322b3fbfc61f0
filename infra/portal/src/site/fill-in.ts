import type { DemoCredentials } from './demo.ts';

/** Demo values of path parameters that no example can have, by name: the documents have the ids of the demo data. */
type DemoIds = Readonly<Record<string, string | undefined>>;

export const demoIds = ({ store }: DemoCredentials): DemoIds => ({ token: store?.webhookToken });

export interface Operation {
  /** Only for an operation that is not below the path of the service. */
  servers?: { url: string }[];
  parameters?: { name: string; in: string; example?: unknown }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
}

/** The fields of an OpenAPI document that are used here. */
export interface Document {
  paths: Record<string, Record<string, Operation>>;
}

/** Adds a suffix to values of an example that can be used only once: `my-bet` becomes `my-bet-1f2e`. */
const addSuffix = <T>(example: T, suffix: string): T =>
  JSON.parse(JSON.stringify(example).replaceAll(/"my-\w+/g, `$&-${suffix}`)) as T;

/** Returns the document with demo values as examples, and with a suffix in values that can be used only once. */
export const addExamples = (document: Document, ids: DemoIds, suffix: string): Document => {
  const completed = structuredClone(document);
  for (const methods of Object.values(completed.paths))
    for (const { parameters = [], requestBody } of Object.values(methods)) {
      for (const parameter of parameters) {
        const demoValue = parameter.in === 'path' ? ids[parameter.name] : undefined;
        const example = demoValue ?? parameter.example;
        if (example !== undefined) parameter.example = addSuffix(example, suffix);
      }
      for (const content of Object.values(requestBody?.content ?? {}))
        if (content.example !== undefined) content.example = addSuffix(content.example, suffix);
    }
  return completed;
};

/** Argument of Scalar's callback before it sends a request. */
export interface BuiltRequest {
  request: Request;
}

const hex = (bytes: ArrayBuffer): string =>
  [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/**
 * Signs requests to the callbacks of the wallet like a game server: HMAC-SHA256 over timestamp, path and body. Other requests
 * are not changed.
 */
export const signCallbacks =
  (secret: string) =>
  async (request: Request): Promise<void> => {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith('/callback/')) return;
    const timestamp = String(Math.floor(Date.now() / 1000));
    const encoder = new TextEncoder();
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign']);
    const text = `${timestamp}${pathname}${await request.clone().text()}`;
    request.headers.set('X-Timestamp', timestamp);
    request.headers.set('X-HMAC-SHA256', hex(await crypto.subtle.sign('HMAC', key, encoder.encode(text))));
  };
