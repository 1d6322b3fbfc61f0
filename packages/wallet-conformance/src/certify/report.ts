import { escaped } from '../xml.ts';
import type { Result } from './run.ts';

/** One line of the readable report. */
export const line = ({ title, failure }: Result): string =>
  failure === undefined ? `  ✓ ${title}` : `  ✗ ${title}\n      ${failure}`;

export const summary = (results: readonly Result[]): string => {
  const failed = results.filter(({ failure }) => failure !== undefined);
  const verdict =
    failed.length === 0 ? 'the backend keeps the contract' : 'the backend does not keep the contract';
  return `${results.length - failed.length} passed, ${failed.length} failed: ${verdict}`;
};

const caseOf = ({ group, title, ms, failure }: Result): string => {
  const head = `    <testcase classname="${escaped(group)}" name="${escaped(title)}" time="${(ms / 1000).toFixed(3)}"`;
  return failure === undefined ? `${head}/>` : `${head}><failure message="${escaped(failure)}"/></testcase>`;
};

/** The results as JUnit XML, one suite for each group. */
export const junit = (results: readonly Result[]): string => {
  const suites = [...Map.groupBy(results, ({ group }) => group)].map(([group, cases]) => {
    const failures = cases.filter(({ failure }) => failure !== undefined).length;
    return `  <testsuite name="${escaped(group)}" tests="${cases.length}" failures="${failures}">\n${cases.map(caseOf).join('\n')}\n  </testsuite>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="certify">\n${suites.join('\n')}\n</testsuites>\n`;
};
