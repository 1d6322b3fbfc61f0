import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The name is used for a folder, a database, two roles and as a prefix of environment variables. */
const longest = 41;
const kebab = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;

/** Names in use by PostgreSQL, the local stack or the owner role of another service. */
const reserved = /^(?:pg-.*|.*-owner|.*-migrate|postgres|template[01]|redis|gateway|nginx|platform)$/;

/**
 * Checks that a new service in the repository at `root` can have this name.
 * @throws an error that says what is wrong
 */
export const checkName = (root: string, name: string): void => {
  if (!kebab.test(name)) {
    throw new Error(
      `"${name}" is not a valid name for a service: use lower-case letters and digits, begin with a letter, join words with single dashes (parcel-tracker).`,
    );
  }
  if (name.length > longest) throw new Error(`"${name}" is too long: use at most ${longest} characters.`);
  if (reserved.test(name)) throw new Error(`"${name}" is reserved; choose another name.`);
  for (const path of [`services/${name}`, `docs/${name}.md`]) {
    if (existsSync(join(root, path))) throw new Error(`"${name}" is taken: ${path} exists.`);
  }
};

/** `parcel-tracker` → `Parcel tracker`. */
export const titleOf = (name: string): string => {
  const words = name.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};
