import { printDrift } from '@platform/pagination/maintenance';
import { directories } from './db/directories.ts';

await printDrift('consignments', directories);
