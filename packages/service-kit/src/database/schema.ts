/** The default schema of a service's tables: its name with `_`. */
const defaultSchema = (service: string): string => service.replaceAll('-', '_');

/** Names that need no quotes. */
export const schemaName = /^[a-z_][a-z0-9_]{0,62}$/;

/**
 * Adds a `search_path` to a database URL, as postgres.js reads it: the schema of the service's tables and that of extensions.
 * A URL that already has one is unchanged. No statement names a schema, so the tables can be in any.
 */
export const inSchema = (url: string, service: string, schema = defaultSchema(service)): string => {
  const withSchema = new URL(url);
  if (!withSchema.searchParams.has('search_path'))
    withSchema.searchParams.set('search_path', `${schema},extensions`);
  return withSchema.href;
};

/** The first schema of a URL's `search_path`; undefined if it has none. */
export const schemaOf = (url: string): string | undefined =>
  new URL(url).searchParams.get('search_path')?.split(',')[0];
