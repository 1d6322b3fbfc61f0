import { join } from 'node:path';
import { readServices, withCells } from './read.ts';

/** The services of the platform, from services.yaml in the root of the repository, in the order of their ports. */
export const services = readServices(join(import.meta.dirname, '../../../services.yaml'));

/** What runs: the services, and the cells that they have. */
export const deployments = withCells(services);

/** The variable of compose with the tag of an image: `quest-service` → `QUEST_SERVICE_TAG`. */
export const tagVariable = (image: string): string => `${image.toUpperCase().replaceAll('-', '_')}_TAG`;
