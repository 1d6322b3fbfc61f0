import type { Operation } from './document.ts';

/** The values of path parameters, percent-encoded. */
export type Values = Record<string, string>;

interface Resource {
  template: string;
  values: Values;
}

/** What paths of a template look like, with a group for each parameter. */
export const patternOf = (template: string): RegExp =>
  new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);

/** Whether one path is the other, or below it. */
const related = (a: string, b: string): boolean => a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);

/** Collects paths of existing resources: those a test passes, and those that responses name in Location. */
export const addressBook = (operations: readonly Operation[]) => {
  const templates = [...new Set(operations.map(({ template }) => template))];
  const resources: Resource[] = [];
  return {
    add: (path: string): void => {
      for (const template of templates) {
        const values = patternOf(template).exec(path)?.groups;
        if (values) resources.push({ template, values: { ...values } });
      }
    },
    /** Parameter values for which the operation's path exists, newest first: of that path, if there are any. */
    for: ({ template, parameters }: Operation): Values[] => {
      const needed = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
      const fitting = resources.filter(
        (one) => related(one.template, template) && needed.every((name) => name in one.values),
      );
      const own = fitting.filter((one) => one.template === template);
      return (own.length > 0 ? own : fitting).map(({ values }) => values).toReversed();
    },
  };
};

export type AddressBook = ReturnType<typeof addressBook>;
