import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readServices } from '@platform/service-list/read';

/** The names of a service that is to be created. */
export interface NewService {
  /** Such as `parcel-tracker`. */
  name: string;
  /** Its first resource, such as `cold-rooms`: the path, the table and a folder. */
  plural: string;
  /** Such as `cold-room`. */
  singular: string;
}

/** The name is also that of a database and of roles, with suffixes; PostgreSQL allows 63 bytes. */
const maxLength = 41;
const kebab = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;

/** Names that PostgreSQL, the local stack or roles of another service use. */
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
  if (name.length > maxLength) throw new Error(`"${name}" is too long: use at most ${maxLength} characters.`);
  if (reserved.test(name)) throw new Error(`"${name}" is reserved; choose another name.`);
  for (const path of [`services/${name}`, `docs/${name}.md`]) {
    if (existsSync(join(root, path))) throw new Error(`"${name}" is taken: ${path} exists.`);
  }
};

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `cold-rooms` → `cold_rooms`. */
export const snakeOf = (name: string): string => name.replaceAll('-', '_');

/** `cold-rooms` → `ColdRooms`. */
export const pascalOf = (name: string): string => name.split('-').map(capitalize).join('');

/** `cold-rooms` → `coldRooms`. */
export const camelOf = (name: string): string => name.charAt(0) + pascalOf(name).slice(1);

/** `cold-rooms` → `cold rooms`. */
export const wordsOf = (name: string): string => name.replaceAll('-', ' ');

/** `parcel-tracker` → `Parcel tracker`. */
export const titleOf = (name: string): string => capitalize(wordsOf(name));

/** Keywords of JavaScript, and names that the template uses. */
const reservedNoun =
  /^(?:body|case|class|context|default|enum|export|function|import|interface|name|new|package|page|param|query|return|route|row|switch|tag)$/;

const maxNounLength = 30;

/**
 * Checks that the resource of a new service in the repository at `root` can have this name.
 * @returns the singular: `singularOption`, or the plural without "s"
 * @throws an error that says what is wrong
 */
export const checkResource = (root: string, plural: string, singularOption?: string): string => {
  // "boxes", "shelves" and "warehouses" have different singular endings.
  if (singularOption === undefined && (!plural.endsWith('s') || plural.endsWith('es')))
    throw new Error(`The singular of "${plural}" is ambiguous; pass it with --singular NOUN.`);
  const singular = singularOption ?? plural.slice(0, -'s'.length);
  for (const word of [plural, singular])
    if (!kebab.test(word) || word.length > maxNounLength)
      throw new Error(
        `"${word}" is not a valid name for a resource: use at most ${maxNounLength} lower-case letters and digits, begin with a letter, join words with single dashes (cold-rooms).`,
      );
  if (plural === singular)
    throw new Error(`The singular and the plural are both "${plural}"; use two words.`);
  if (reservedNoun.test(singular)) throw new Error(`"${plural}" is reserved; choose another name.`);
  const paths = readServices(join(root, 'services.yaml')).flatMap((service) => service.paths);
  if (paths.some(({ path }) => path === `/v1/${plural}`))
    throw new Error(`"${plural}" is taken: another service has the path /v1/${plural}.`);
  return singular;
};
