import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './options.ts';

/**
 * A file of infra/deploy/postgres with psql's variables replaced: `:"name"` by an identifier, `:'name'` by a literal.
 * @throws when the file needs a variable that was not given
 */
export const readSql = (file: string, variables: Record<string, string> = {}): string => {
  const value = (name: string): string => {
    const text = variables[name];
    if (text === undefined) throw new Error(`${file} needs the variable ${name}`);
    return text;
  };
  return readFileSync(join(ROOT, 'infra/deploy/postgres', file), 'utf8')
    .replaceAll(/:"(\w+)"/g, (_, name: string) => `"${value(name).replaceAll('"', '""')}"`)
    .replaceAll(/:'(\w+)'/g, (_, name: string) => `'${value(name).replaceAll("'", "''")}'`);
};
