import type { Operation } from './document.ts';

/** The values of path parameters, percent-encoded. */
export type Values = Record<string, string>;

interface Resource {
  template: string;
  values: Values;
}

/** Matches the paths of a template, with a named group for each parameter. */
export const patternOf = (template: string): RegExp =>
  new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);

/** Whether two paths are equal, or one is below the other. */
const areRelated = (a: string, b: string): boolean =>
  a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);

/** Collects paths of existing resources: those that a test passes, and those from Location headers. */
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
    /** Parameter values of existing resources for an operation, newest first; of the same path, if there are any. */
    for: ({ template, parameters }: Operation): Values[] => {
      const needed = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      const fitting = resources.filter(
        (resource) =>
          areRelated(resource.template, template) && needed.every((name) => name in resource.values),
      );
      const exact = fitting.filter((resource) => resource.template === template);
      return (exact.length > 0 ? exact : fitting).map(({ values }) => values).toReversed();
    },
  };
};

export type AddressBook = ReturnType<typeof addressBook>;
