import { join } from 'node:path';
import { readServices, withCells } from './read.ts';

/** The services of the platform, from services.yaml in the root of the repository, sorted by port. */
export const services = readServices(join(import.meta.dirname, '../../../services.yaml'));

/** All deployments: the services and their cells. */
export const deployments = withCells(services);

/** Name of the compose variable for the tag of an image: `quest-service` → `QUEST_SERVICE_TAG`. */
export const tagVariable = (image: string): string => `${image.toUpperCase().replaceAll('-', '_')}_TAG`;
