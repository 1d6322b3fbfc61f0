import type { Options } from './parts.tsx';
import { fieldValue, isoOf, when } from './time.ts';

/** A value of a record that a form shows and changes. */
export interface Field {
  /** Where the record has it, such as `pos/baseUrl`. */
  name: string;
  label: string;
  help?: string;
  /** A text if absent. `lines`: a list, with a line for each item; `secret`: is entered, and never shown. */
  kind?: 'number' | 'switch' | 'lines' | 'secret' | 'time';
  isRequired?: boolean;
  /** The values that can be chosen. */
  options?: readonly string[];
  placeholder?: string | undefined;
}

/** Declares a field. */
export const field = (name: string, label: string, more: Omit<Field, 'name' | 'label'> = {}): Field => ({
  name,
  label,
  ...more,
});

/** Fields under a heading, which opens them when they are folded. */
export interface FieldGroup {
  title: string;
  fields: readonly Field[];
  isFolded?: boolean;
}

const switchOptions: Options = [
  ['true', 'Yes'],
  ['false', 'No'],
];

/** What can be chosen for a field; undefined when its text is entered. */
export const optionsOf = ({ kind, options }: Field): Options | undefined => {
  if (kind === 'switch') return switchOptions;
  return options && [['', 'Choose …'], ...options.map((option) => [option, option] as const)];
};

type Values = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const valueAt = (record: object, name: string): unknown =>
  name.split('/').reduce<unknown>((value, part) => (isObject(value) ? value[part] : undefined), record);

/** What a form shows of a field at first; nothing of a secret. */
export const initialText = ({ name, kind }: Field, record: object): string => {
  const value = valueAt(record, name);
  if (kind === 'switch') return String(value === true);
  if (kind === 'time') return typeof value === 'string' ? fieldValue(value) : '';
  if (Array.isArray(value)) return value.join('\n');
  return kind !== 'secret' && (typeof value === 'string' || typeof value === 'number') ? String(value) : '';
};

type Value = string | number | boolean | string[] | null;

/** The value that a text stands for; null when it is empty. */
const valueOf = ({ kind }: Field, text: string): Value => {
  const lines = text.split('\n').map((line) => line.trim());
  const isEmpty = lines.every((line) => line === '');
  if (isEmpty) return null;
  // Anything else is sent as text, so that the service says what is wrong.
  if (kind === 'number' && Number.isFinite(Number(text))) return Number(text);
  if (kind === 'switch') return text === 'true';
  if (kind === 'time') return isoOf(text);
  return kind === 'lines' ? lines.filter((line) => line !== '') : text.trim();
};

/** A value for people; a secret is never one. */
const shown = ({ kind }: Field, value: Value): string => {
  if (value === null) return '–';
  if (kind === 'secret') return 'a new value';
  if (kind === 'time' && typeof value === 'string') return when(value);
  return typeof value === 'boolean' ? (value ? 'Yes' : 'No') : [value].flat().join(', ');
};

/** A line of a diff. */
export interface Difference {
  label: string;
  before: string;
  after: string;
}

/** The values of an object as texts, by their paths. */
const textsOf = (value: unknown, path = ''): [string, string][] =>
  isObject(value)
    ? Object.entries(value).flatMap(([name, inner]) => textsOf(inner, path === '' ? name : `${path}.${name}`))
    : [[path, typeof value === 'string' ? value : JSON.stringify(value)]];

/** In which values two objects differ, by their paths. */
export const differencesBetween = (before: object, after: object): Difference[] => {
  const [old, now] = [new Map(textsOf(before)), new Map(textsOf(after))];
  return [...new Set([...old.keys(), ...now.keys()])]
    .map((label) => ({ label, before: old.get(label) ?? '–', after: now.get(label) ?? '–' }))
    .filter((one) => one.before !== one.after);
};

/** A field that somebody has changed in a form, with its new value. */
export interface Change extends Difference {
  name: string;
  value: Value;
}

/** What somebody has changed of a record. */
export const changesOf = (
  fields: readonly Field[],
  record: object,
  entered: Readonly<Record<string, string>>,
): Change[] =>
  fields.flatMap((entry) => {
    const { name, label, kind, placeholder } = entry;
    const before = valueOf(entry, initialText(entry, record));
    const value = valueOf(entry, entered[name] ?? '');
    if (JSON.stringify(before) === JSON.stringify(value)) return [];
    const old = kind === 'secret' ? (placeholder ?? '–') : shown(entry, before);
    return [{ name, label, value, before: old, after: shown(entry, value) }];
  });

/** A value after a JSON merge patch (RFC 7396). Only objects that the patch names lose their fields that are null. */
export const merged = (value: unknown, patch: unknown): unknown => {
  if (!isObject(patch)) return patch;
  const before = isObject(value) ? value : {};
  const changed = Object.entries(patch).map(([name, inner]) => [name, merged(before[name], inner)] as const);
  const all = Object.entries({ ...before, ...Object.fromEntries(changed) });
  return Object.fromEntries(all.filter(([, inner]) => inner !== null));
};

/** The changes as a JSON merge patch. */
export const patchOf = (changes: readonly Change[]): object => {
  const patch: Record<string, unknown> = {};
  for (const { name, value } of changes) {
    const parts = name.split('/');
    const last = parts.pop() ?? '';
    let place = patch;
    for (const part of parts) place = (place[part] ??= {}) as Record<string, unknown>;
    place[last] = value;
  }
  return patch;
};
