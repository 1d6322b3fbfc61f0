import type { Examples } from './examples.ts';

interface Operation {
  parameters?: { name: string; in: string; example?: unknown; schema?: { example?: unknown } }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
}

/** The parts of an OpenAPI document that are read here. */
export interface Document {
  paths: Record<string, Record<string, Operation>>;
}

/** The segment before a parameter: `stores` of `/v1/stores/{id}/events`. */
const before = (path: string, name: string): string => {
  const segments = path.split('/');
  return segments[segments.indexOf(`{${name}}`) - 1] ?? '';
};

/** The document with examples for path parameters and bodies that have none. */
export const fillIn = (document: Document, { ids, bodies }: Examples): Document => {
  const filled = structuredClone(document);
  for (const [path, methods] of Object.entries(filled.paths))
    for (const [method, { parameters = [], requestBody }] of Object.entries(methods)) {
      for (const parameter of parameters.filter((one) => one.in === 'path')) {
        const example = ids[before(path, parameter.name)] ?? ids[parameter.name];
        if (example !== undefined) parameter.example ??= example;
      }
      const body = bodies[`${method.toUpperCase()} ${path}`];
      if (body !== undefined)
        for (const content of Object.values(requestBody?.content ?? {})) content.example ??= body;
    }
  return filled;
};
