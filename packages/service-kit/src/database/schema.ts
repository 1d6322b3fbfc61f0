/** The schema of a service's tables where nothing else is set: its name with `_`. */
const defaultSchema = (service: string): string => service.replaceAll('-', '_');

/** Names that need no quotes. */
export const schemaName = /^[a-z_][a-z0-9_]{0,62}$/;

/**
 * The URL of a database with the schema that holds the tables of `service`, and that of extensions, as its `search_path`,
 * as postgres.js reads it. A URL that has one is left as it is. No statement names a schema, so each can be any.
 */
export const inSchema = (url: string, service: string, schema = defaultSchema(service)): string => {
  const located = new URL(url);
  if (!located.searchParams.has('search_path'))
    located.searchParams.set('search_path', `${schema},extensions`);
  return located.href;
};

/** The schema that a URL names first; undefined without a `search_path`. */
export const schemaOf = (url: string): string | undefined =>
  new URL(url).searchParams.get('search_path')?.split(',')[0];
