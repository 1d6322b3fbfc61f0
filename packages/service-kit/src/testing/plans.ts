import { drizzle } from 'drizzle-orm/postgres-js';
import postgres, { type Sql } from 'postgres';
import { openDatabase, type Database } from '../database/database.ts';

/** A node of `explain (format json)`. */
interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'CTE Name'?: string;
  'Subplan Name'?: string;
  'Parent Relationship'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Recheck Cond'?: string;
  Plans?: Plan[];
}

export interface PlanRecorder extends AsyncDisposable {
  /** Replaces the database of a context. */
  database: Database;
  sql: Sql;
  /**
   * Runs `work` and returns the faults in the plans of its queries: a sequential scan, or a sort of all rows of a table. The
   * planner is configured to use them only if no index can answer the query, so the tables may be empty.
   */
  faultsOf: (work: () => Promise<unknown>) => Promise<string[]>;
  /**
   * Runs `work` and returns the indexes of which its queries read a range, in PostgreSQL's generic plan. The plan depends on
   * table statistics, so the tables must have been analysed.
   */
  rangesOf: (work: () => Promise<unknown>) => Promise<string[]>;
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** Nodes that return few rows, however many they read. */
const reducing = new Set(['Limit', 'Aggregate']);

/**
 * The tables whose rows are all input of the node, because they are read without a condition and without a limit. Ignores the
 * inner side of joins, where only rows for the outer side are looked up.
 */
const wholeTables = (node: Plan, root: Plan): string[] => {
  if (reducing.has(node['Node Type'])) return [];
  const name = node['CTE Name'];
  const source = name && nodesOf(root).find((other) => other['Subplan Name'] === `CTE ${name}`);
  const outer = (node.Plans ?? []).filter((input) => input['Parent Relationship'] === 'Outer');
  const isConditional = node['Index Cond'] !== undefined || node['Recheck Cond'] !== undefined;
  const scanned = node['Relation Name'] !== undefined && !isConditional ? [node['Relation Name']] : [];
  return [
    ...scanned,
    ...[...outer, ...(source ? [source] : [])].flatMap((input) => wholeTables(input, root)),
  ];
};

const faultsIn = (root: Plan): string[] =>
  nodesOf(root).flatMap((node) => {
    if (node['Node Type'] === 'Seq Scan') return [`sequential scan of ${node['Relation Name']}`];
    // An incremental sort sorts only rows that are equal in the leading columns of an index.
    if (node['Node Type'] !== 'Sort') return [];
    return wholeTables(node, root).map((name) => `sort of ${name}`);
  });

/** Records the statements of a service. `ignored` matches tables that are small by design, such as those of a page directory. */
export const recordPlans = (url: string, ignored = /_directory_/): PlanRecorder => {
  let statements = new Map<string, unknown[]>();
  const sql = postgres(url, {
    max: 1,
    onnotice: () => undefined,
    debug: (_connection, text, parameters) => void statements.set(text, parameters),
  });
  const opened = openDatabase({ url, name: 'plans', max: 1 });
  /** The queries that `work` sends, with their parameters. */
  const queriesOf = async (
    work: () => Promise<unknown>,
  ): Promise<[text: string, parameters: unknown[]][]> => {
    statements = new Map();
    await work();
    // Ignores the queries of the catalog, which the driver sends on a new connection.
    const queries = [...statements].filter(
      ([text]) => /^\s*(?:select|with)\b/i.test(text) && !text.includes('pg_catalog.'),
    );
    if (queries.length === 0) throw new Error('no query was sent');
    return queries;
  };
  const explain = async (text: string, parameters: unknown[]): Promise<string[]> => {
    const plan = await opened.sql.begin(async (tx) => {
      await tx`set local enable_seqscan = off`;
      await tx`set local enable_sort = off`;
      const [row] = await tx.unsafe<[{ 'QUERY PLAN': [{ Plan: Plan }] }]>(
        `explain (format json) ${text}`,
        parameters as string[],
      );
      return row['QUERY PLAN'][0].Plan;
    });
    const faults = faultsIn(plan);
    return faults.filter((fault) => !ignored.test(fault)).map((fault) => `${fault}: ${text.trim()}`);
  };
  return {
    sql,
    database: { ...opened, sql, orm: drizzle(sql) },
    faultsOf: async (work) => {
      const faults = [];
      for (const [text, parameters] of await queriesOf(work))
        faults.push(...(await explain(text, parameters)));
      return faults;
    },
    rangesOf: async (work) => {
      const ranges = [];
      for (const [text] of await queriesOf(work)) {
        const [row] = await opened.sql
          .unsafe<[{ 'QUERY PLAN': [{ Plan: Plan }] }]>(`explain (generic_plan, format json) ${text}`)
          .simple();
        const nodes = nodesOf(row['QUERY PLAN'][0].Plan);
        ranges.push(...nodes.filter(({ 'Index Cond': condition }) => condition?.includes(' > ')));
      }
      return ranges.flatMap(({ 'Index Name': name }) => name ?? []);
    },
    [Symbol.asyncDispose]: async () => {
      await sql.end();
      await opened[Symbol.asyncDispose]();
    },
  };
};
