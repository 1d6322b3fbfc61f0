/**
 * Connection settings that make PostgreSQL use index scans. Every statement has an index for its rows. But some statements are
 * prepared while the tables are nearly empty: a full scan looks cheap then, and that plan is used for the life of the connection.
 * Parallel scans are off: counting a long queue for the metrics took the CPU from arriving webhooks for 0.4 s.
 */
export const indexScanSettings = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  max_parallel_workers_per_gather: '0',
};
