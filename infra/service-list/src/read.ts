import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

// The comment at the top of services.yaml describes the fields.

/** Higher ports are for probes. */
const HIGHEST_PORT = 10;

/** The database, its roles and the prefix of environment variables are derived from this name. */
const Name = z.string().regex(/^[a-z][a-z0-9-]{0,40}$/);
const Variable = z.string().regex(/^[A-Z][A-Z0-9_]*$/, 'must be the name of a variable');
const Variables = z.record(Variable, z.string()).default({});
const Count = z.int('must be a whole number').min(1, 'must be at least 1');
const Text = z.string().min(1, 'must not be empty');

const Path = z.strictObject({
  path: z
    .string()
    .regex(
      /^(?:\/(?:[a-z0-9_-]+|\*))+$/,
      'must be segments of lower-case letters, digits, _ and -: /v1/cold-rooms',
    ),
  exact: z.literal(true).exactOptional(),
  maxBody: z
    .string()
    .regex(/^\d+[kmg]$/, 'must be a size such as 32m')
    .exactOptional(),
  secret: z.literal(true).exactOptional(),
  cookies: z.literal(true).exactOptional(),
  stream: z.literal(true).exactOptional(),
  unlimited: z.literal(true).exactOptional(),
});

const Deploy = z.strictObject({
  replicas: z.strictObject({ min: Count, max: Count, cpu: Count }),
  resources: z.strictObject({ cpu: Text, memory: Text, memoryLimit: Text }),
  optionalSecrets: z.array(Variable).exactOptional(),
  migrationSecrets: z.array(Variable).exactOptional(),
  pool: Count,
  connectionsBesidePool: Count.exactOptional(),
  probe: z.string().startsWith('/'),
  volume: z.strictObject({ name: Name, variable: Variable, path: Text, size: Text }).exactOptional(),
  settings: z.strictObject({ all: Variables, chart: Variables, compose: Variables }).prefault({}),
  egress: z.array(Count).exactOptional(),
});

/** A program that plays an external party (such as a game server) for the service while `start` runs it. */
const StandIn = z.strictObject({
  name: Name,
  port: Count.max(99, 'must be at most 99'),
  program: Text,
  args: z.array(Text).default([]),
  serviceUrlVariable: Variable,
  urlVariable: Variable,
  settings: Variables,
});

/**
 * The services that can have cells, because each of their records belongs to one store or one player. The values are the
 * variables that contain the prefix of the cell.
 */
const WITH_CELLS: Partial<Record<string, readonly string[]>> = {
  'store-webhooks': [],
  'wallet-operator': ['SIGNATURE_PATH_PREFIX'],
};
/** Each cell uses 100 ports and one of the 16 databases of Redis. */
const MAX_CELLS = 8;
/** Three names are excluded: `…-owner` are roles and secrets, `…-migrate` jobs, and `…-streams` upstreams of nginx. */
const Cell = z
  .string()
  .regex(
    /^(?!(?:migrate|owner|streams)$)[a-z][a-z0-9]{0,14}$/,
    'must be at most 15 lower-case letters and digits, and not migrate, owner or streams',
  );

const Rehearsal = z.strictObject({
  /** A request that a token with all scopes may send, and the response field that contains the new id. */
  request: z.strictObject({ path: Text, body: z.record(z.string(), z.unknown()), id: Text }).exactOptional(),
  stored: Text,
  rename: z.strictObject({
    table: Text,
    column: Text,
    type: Text,
    code: z.array(z.tuple([Text, Text])).exactOptional(),
  }),
});

const Service = z.strictObject({
  port: Count.max(HIGHEST_PORT, `must be at most ${HIGHEST_PORT}`),
  purpose: Text,
  callers: Text,
  scopes: z.array(z.string()).default([]),
  paths: z.array(Path).min(1, 'must have at least one address'),
  secrets: z.array(Variable).default([]),
  keys: z.array(Variable).default([]),
  folders: z.array(Variable).default([]),
  pages: z.record(Variable, z.string().startsWith('/')).default({}),
  deploy: Deploy,
  rehearsal: Rehearsal,
  standIn: StandIn.exactOptional(),
  cells: z
    .array(Cell)
    .max(MAX_CELLS, `must be at most ${MAX_CELLS}`)
    .refine((cells) => new Set(cells).size === cells.length, 'must be different')
    .default([]),
});

const List = z
  .record(Name, Service, {
    error: ({ code }) =>
      code === 'invalid_key' ? 'must be at most 41 lower-case letters, digits and dashes' : undefined,
  })
  .superRefine((list, context) => {
    for (const [name, { cells }] of Object.entries(list))
      if (cells.length > 0 && WITH_CELLS[name] === undefined)
        context.addIssue({
          code: 'custom',
          path: [name, 'cells'],
          message: `only ${Object.keys(WITH_CELLS).join(' and ')} can have cells`,
        });
  });

/** @throws with the names of two services that have the same value */
const rejectDuplicates = (
  valueName: string,
  valuesOf: (service: ListedService) => readonly (string | number)[],
  services: readonly ListedService[],
): void => {
  const owners = new Map<string | number, string>();
  for (const service of services)
    for (const value of valuesOf(service)) {
      const other = owners.get(value);
      if (other !== undefined)
        throw new Error(`${other} and ${service.name} have the same ${valueName} ${value}`);
      owners.set(value, service.name);
    }
};

/** A service of the list, or a cell of it. */
export type ListedService = z.output<typeof Service> & {
  name: string;
  /** Name of its database and of the database role that the running service uses. */
  database: string;
  /** Name of its package and image; a cell has those of its service. */
  image: string;
  /** Prefix of all its public addresses and suffix of its token audience: `/cells/b`; empty unless it is a cell. */
  prefix: string;
  /** Number of its Redis database; 0 unless it is a cell. */
  redisDatabase: number;
  /** Variables that a cell and its migrations get in every environment. */
  cellSettings: Record<string, string>;
};
/** A public address of a service. */
export type ListedPath = z.output<typeof Path>;

const noCell = { prefix: '', redisDatabase: 0, cellSettings: {} };
const namesOf = (name: string) => ({ name, database: name.replaceAll('-', '_') });

/** Derives a cell from its service: the same code with another name, port, address, database and Redis database. */
const cellOf = (service: ListedService, cell: string, number: number): ListedService => {
  const { image, port, paths, deploy, standIn } = service;
  const { volume, probe } = deploy;
  const prefix = `/cells/${cell}`;
  const names = namesOf(`${image}-${cell}`);
  return {
    ...service,
    ...names,
    prefix,
    redisDatabase: number,
    cellSettings: {
      DATABASE_SCHEMA: names.database,
      ...Object.fromEntries((WITH_CELLS[image] ?? []).map((variable) => [variable, prefix])),
    },
    port: port + 100 * number,
    paths: paths.map((path) => ({ ...path, path: prefix + path.path })),
    deploy: {
      ...deploy,
      probe: prefix + probe,
      ...(volume && { volume: { ...volume, name: `${volume.name}-${cell}` } }),
    },
    ...(standIn && {
      standIn: { ...standIn, name: `${standIn.name}-${cell}`, port: standIn.port + 100 * number },
    }),
  };
};

/** Returns each service followed by its cells. The service itself is the first cell. */
export const withCells = (services: readonly ListedService[]): ListedService[] =>
  services.flatMap((service) => [
    service,
    ...service.cells.map((cell, index) => cellOf(service, cell, index + 1)),
  ]);

/**
 * Reads a list of services and returns them sorted by port.
 * @throws with the file and the invalid fields
 */
export const readServices = (file: string): ListedService[] => {
  const { data, error } = List.safeParse(parse(readFileSync(file, 'utf8')));
  if (error) throw new Error(`${file}:\n${z.prettifyError(error)}`);
  const services = Object.entries(data)
    .map(([name, service]) => ({ ...noCell, ...namesOf(name), image: name, ...service }))
    .toSorted((first, second) => first.port - second.port);
  const deployments = withCells(services);
  rejectDuplicates('database', ({ database }) => [database], deployments);
  rejectDuplicates('port', ({ port }) => [port], deployments);
  rejectDuplicates('path', ({ paths }) => paths.map(({ path }) => path), deployments);
  return services;
};
