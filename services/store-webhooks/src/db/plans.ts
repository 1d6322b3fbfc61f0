/**
 * Settings of the connections. Every statement finds its rows by an index. Some are prepared while the tables are nearly
 * empty, when a plan that reads all of a table or of an index looks cheap, and are used for as long as the connection.
 * Nothing is read in parallel: counting a long queue for the metrics took the processors from what arrived, for 0.4 s.
 */
export const plansByIndex = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  max_parallel_workers_per_gather: '0',
};
