/** `pnpm --filter consignments drift`: prints by how many rows page directories differ from their lists; exits with 1 when one does. */
import { findDrift } from '@platform/pagination/maintenance';
import { directories } from './db/directories.ts';
import { databaseUrl } from './env.ts';

const found = await findDrift(databaseUrl(), directories);
process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
process.exitCode = found.every(({ rows }) => rows === 0) ? 0 : 1;
