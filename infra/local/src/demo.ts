/** What a service tells about the demo data that it loaded. */
export interface Demo {
  /** Merged into `demo` of stack.json. */
  demo: Record<string, unknown>;
  curls: { title: string; command: string }[];
}

const NOTHING: Demo = { demo: {}, curls: [] };

/**
 * Reads what the `demo` task of a service printed; nothing printed is nothing to tell.
 * @throws naming the service when it is not the agreed object
 */
export const parseDemo = (service: string, printed: string): Demo => {
  if (printed.trim() === '') return NOTHING;
  try {
    return { ...NOTHING, ...(JSON.parse(printed) as Partial<Demo>) };
  } catch (cause) {
    throw new Error(`demo of ${service} must print one JSON object and nothing else`, { cause });
  }
};

/** Puts the demos of all services into one. */
export const mergeDemos = (demos: readonly Demo[]): Demo => ({
  demo: Object.assign({}, ...demos.map(({ demo }) => demo)) as Record<string, unknown>,
  curls: demos.flatMap(({ curls }) => curls),
});
