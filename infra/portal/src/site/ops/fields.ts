import type { Options } from './parts.tsx';
import { fieldValue, isoOf, when } from './time.ts';

/** A value of a record that a form shows and changes. */
export interface Field {
  /** Path of the value in the record, such as `pos/baseUrl`. */
  name: string;
  label: string;
  help?: string;
  /** Default: a text. `lines`: a list with one item per line; `secret`: entered but never shown. */
  kind?: 'number' | 'switch' | 'lines' | 'secret' | 'time';
  isRequired?: boolean;
  /** Values of a select element. */
  options?: readonly string[];
  placeholder?: string | undefined;
}

/** Declares a field. */
export const field = (name: string, label: string, options: Omit<Field, 'name' | 'label'> = {}): Field => ({
  name,
  label,
  ...options,
});

/** Fields with a heading, which can be collapsed. */
export interface FieldGroup {
  title: string;
  fields: readonly Field[];
  isFolded?: boolean;
}

const switchOptions: Options = [
  ['true', 'Yes'],
  ['false', 'No'],
];

/** Options of a select field; undefined for a text field. */
export const optionsOf = ({ kind, options }: Field): Options | undefined => {
  if (kind === 'switch') return switchOptions;
  return options && [['', 'Choose …'], ...options.map((option) => [option, option] as const)];
};

type Values = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const valueAt = (record: object, name: string): unknown =>
  name.split('/').reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), record);

/** Initial text of a field in a form; empty for a secret. */
export const initialText = ({ name, kind }: Field, record: object): string => {
  const value = valueAt(record, name);
  if (kind === 'switch') return String(value === true);
  if (kind === 'time') return typeof value === 'string' ? fieldValue(value) : '';
  if (Array.isArray(value)) return value.join('\n');
  return kind !== 'secret' && (typeof value === 'string' || typeof value === 'number') ? String(value) : '';
};

type Value = string | number | boolean | string[] | null;

/** Converts the text of a field to its value; null if it is empty. */
const valueOf = ({ kind }: Field, text: string): Value => {
  const lines = text.split('\n').map((line) => line.trim());
  const isEmpty = lines.every((line) => line === '');
  if (isEmpty) return null;
  // An invalid number is sent as text, so that the service reports the error.
  if (kind === 'number' && Number.isFinite(Number(text))) return Number(text);
  if (kind === 'switch') return text === 'true';
  if (kind === 'time') return isoOf(text);
  return kind === 'lines' ? lines.filter((line) => line !== '') : text.trim();
};

/** Formats a value for the user; secrets are not shown. */
const displayText = ({ kind }: Field, value: Value): string => {
  if (value === null) return '–';
  if (kind === 'secret') return 'a new value';
  if (kind === 'time' && typeof value === 'string') return when(value);
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  return [value].flat().join(', ');
};

/** A line of a diff. */
export interface Difference {
  label: string;
  before: string;
  after: string;
}

/** The values of an object as texts, by their paths. */
const textsOf = (value: unknown, path = ''): [path: string, text: string][] => {
  if (!isObject(value)) return [[path, typeof value === 'string' ? value : JSON.stringify(value)]];
  const prefix = path === '' ? '' : `${path}.`;
  return Object.entries(value).flatMap(([name, inner]) => textsOf(inner, prefix + name));
};

/** Compares two objects and returns the values that differ, by their paths. */
export const differencesBetween = (oldObject: object, newObject: object): Difference[] => {
  const [oldTexts, newTexts] = [new Map(textsOf(oldObject)), new Map(textsOf(newObject))];
  const labels = new Set([...oldTexts.keys(), ...newTexts.keys()]);
  return [...labels]
    .map((label) => ({ label, before: oldTexts.get(label) ?? '–', after: newTexts.get(label) ?? '–' }))
    .filter(({ before, after }) => before !== after);
};

/** A field that the user has changed in a form, with its new value. */
export interface Change extends Difference {
  name: string;
  value: Value;
}

/** The changes of the user to a record. */
export const changesOf = (
  fields: readonly Field[],
  record: object,
  values: Readonly<Record<string, string>>,
): Change[] =>
  fields.flatMap((entry) => {
    const { name, label, kind, placeholder } = entry;
    const before = valueOf(entry, initialText(entry, record));
    const value = valueOf(entry, values[name] ?? '');
    if (JSON.stringify(before) === JSON.stringify(value)) return [];
    const oldText = kind === 'secret' ? (placeholder ?? '–') : displayText(entry, before);
    return [{ name, label, value, before: oldText, after: displayText(entry, value) }];
  });

/** Applies a JSON merge patch (RFC 7396), and removes null fields of the objects that it changes. */
export const applyPatch = (value: unknown, patch: unknown): unknown => {
  if (!isObject(patch)) return patch;
  const result: Record<string, unknown> = isObject(value) ? { ...value } : {};
  for (const [name, inner] of Object.entries(patch)) result[name] = applyPatch(result[name], inner);
  return Object.fromEntries(Object.entries(result).filter(([, inner]) => inner !== null));
};

/** Converts changes to a JSON merge patch. */
export const patchOf = (changes: readonly Change[]): object => {
  const patch: Record<string, unknown> = {};
  for (const { name, value } of changes) {
    const keys = name.split('/');
    const lastKey = keys.pop() ?? '';
    let target = patch;
    for (const key of keys) target = (target[key] ??= {}) as Record<string, unknown>;
    target[lastKey] = value;
  }
  return patch;
};
