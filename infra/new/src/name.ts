import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The name becomes a folder, a database, two roles and the beginning of variables. */
const longest = 41;
const kebab = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;

/** Names that PostgreSQL, the local stack or another service's owner role has taken. */
const reserved = /^(?:pg-.*|.*-owner|.*-migrate|postgres|template[01]|redis|gateway|nginx|platform)$/;

/**
 * Makes sure that a service can have this name in the repository at `root`.
 * @throws saying what is wrong with it
 */
export const checkName = (root: string, name: string): void => {
  if (!kebab.test(name)) {
    throw new Error(
      `"${name}" is no name for a service: lower-case letters and digits, words joined by single dashes, a letter first (parcel-tracker).`,
    );
  }
  if (name.length > longest) throw new Error(`"${name}" is too long: up to ${longest} characters.`);
  if (reserved.test(name)) throw new Error(`"${name}" has a meaning of its own already; take another name.`);
  for (const path of [`services/${name}`, `docs/${name}.md`]) {
    if (existsSync(join(root, path))) throw new Error(`"${name}" is taken: ${path} is there.`);
  }
};

/** `parcel-tracker` → `Parcel tracker`. */
export const titleOf = (name: string): string => {
  const words = name.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};
