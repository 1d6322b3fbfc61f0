import type { Operation } from './document.ts';

/** The values of the parameters of an address, still encoded. */
export type Values = Record<string, string>;

interface Found {
  template: string;
  values: Values;
}

const patternOf = (template: string): RegExp =>
  new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);

/** One address lies at or under the other. */
const related = (a: string, b: string): boolean => a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);

/** The addresses of things that are there: those a test knows, and those that answers name in Location. */
export const addressBook = (operations: readonly Operation[]) => {
  const templates = [...new Set(operations.map(({ template }) => template))];
  const found: Found[] = [];
  return {
    add: (path: string): void => {
      for (const template of templates) {
        const values = patternOf(template).exec(path)?.groups;
        if (values) found.push({ template, values: { ...values } });
      }
    },
    /** Values for all parameters of the operation's path, such that it leads to something; the newest first. */
    for: ({ template, parameters }: Operation): Values[] => {
      const needed = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
      return found
        .filter((one) => related(one.template, template) && needed.every((name) => name in one.values))
        .map(({ values }) => values)
        .toReversed();
    },
  };
};

export type AddressBook = ReturnType<typeof addressBook>;
