/** What the demo task of a service prints. */
export interface Demo {
  /** Merged into `demo` of stack.json. */
  demo: Record<string, unknown>;
  curls: { title: string; command: string }[];
}

const NOTHING: Demo = { demo: {}, curls: [] };

/**
 * Parses the output of a `demo` task; it may be empty.
 * @throws naming the service when the output is not one JSON object
 */
export const parseDemo = (service: string, printed: string): Demo => {
  if (printed.trim() === '') return NOTHING;
  try {
    return { ...NOTHING, ...(JSON.parse(printed) as Partial<Demo>) };
  } catch (cause) {
    throw new Error(`demo of ${service} must print one JSON object and nothing else`, { cause });
  }
};

/** Merges the demo data of all services. */
export const mergeDemos = (demos: readonly Demo[]): Demo => ({
  demo: Object.assign({}, ...demos.map(({ demo }) => demo)) as Record<string, unknown>,
  curls: demos.flatMap(({ curls }) => curls),
});
