/** `pnpm --filter verify-projects drift`: prints by how many rows page directories differ from their lists; exits with 1 when one does. */
import { printDrift } from '@platform/pagination/maintenance';
import { projectDirectory } from './db/directory.ts';

await printDrift([projectDirectory]);
