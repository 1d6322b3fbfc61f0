import type { Database } from '@platform/service-kit/db';

/** A transaction that writes. */
export type Tx = Parameters<Parameters<Database['orm']['transaction']>[0]>[0];
