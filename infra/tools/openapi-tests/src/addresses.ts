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

/** Collects the paths of existing resources: those that the test names, and those from Location headers. */
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
    /** Returns the path parameters of existing resources, newest first: those with the operation's path, else related ones. */
    for: ({ template, parameters }: Operation): Values[] => {
      const needed = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      const usable = resources.filter(({ values }) => needed.every((name) => name in values));
      const exact = usable.filter((resource) => resource.template === template);
      const related = usable.filter((resource) => areRelated(resource.template, template));
      return (exact.length > 0 ? exact : related).map(({ values }) => values).toReversed();
    },
  };
};

export type AddressBook = ReturnType<typeof addressBook>;
