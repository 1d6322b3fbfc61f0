import { bigint } from 'drizzle-orm/pg-core';

/** Money in minor units: beyond 2^53, so never a JavaScript number. */
export const minor = (name: string) => bigint(name, { mode: 'bigint' });
