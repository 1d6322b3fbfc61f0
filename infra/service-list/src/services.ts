import { join } from 'node:path';
import { readServices } from './read.ts';

/** The services of the platform, from services.yaml in the root of the repository, in the order of their ports. */
export const services = readServices(join(import.meta.dirname, '../../../services.yaml'));
