/** `pnpm --filter consignments drift`: prints by how many rows page directories differ from their lists; exits with 1 when one does. */
import { printDrift } from '@platform/pagination/maintenance';
import { directories } from './db/directories.ts';

await printDrift(directories);
