import { printDrift } from '@platform/pagination/maintenance';
import { projectDirectory } from './db/directory.ts';

await printDrift('verify-projects', [projectDirectory]);
