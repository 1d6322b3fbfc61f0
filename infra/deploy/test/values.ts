import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from './service.ts';

/** How often a pod runs, and with how much memory. */
interface Size {
  replicas: { min: number; max: number };
  resources: { memory: string; memoryLimit: string };
}

export interface ServiceValues extends Size {
  secrets: string[];
  pool: number;
  connectionsBesidePool?: number;
  volume?: object;
  settings?: Record<string, string>;
}

/** The default values of the chart. */
export const values = parse(readFileSync(join(root, 'infra/deploy/chart/values.yaml'), 'utf8')) as {
  auth: { jwks: string; issuer: string; audience: string };
  gateway: Size;
  nginx: { trustedProxies: string[] };
  connections: number;
  services: Record<string, ServiceValues>;
};

/** The services of the chart, with their names. */
export const services = Object.entries(values.services).map(([name, service]) => ({
  name,
  connectionsBesidePool: 0,
  ...service,
}));
