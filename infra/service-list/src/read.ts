import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

// The comment at the beginning of services.yaml describes the fields.

/** The ports above it are those of probes. */
const HIGHEST_PORT = 10;

/** The database, the roles and the prefix of variables are named after it. */
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
  ready: z.string().startsWith('/').exactOptional(),
  probe: z.string().startsWith('/'),
  volume: z.strictObject({ name: Name, variable: Variable, path: Text, size: Text }).exactOptional(),
  settings: z.strictObject({ all: Variables, chart: Variables, compose: Variables }).prefault({}),
  egress: z.array(Count).exactOptional(),
});

/** A program that plays another party for the service under `start`. */
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
 * The services that can have cells, because their records belong to one store or player each, and their variables with the
 * prefix of the cell.
 */
const WITH_CELLS: Partial<Record<string, readonly string[]>> = {
  'store-webhooks': [],
  'wallet-operator': ['SIGNATURE_PATH_PREFIX'],
};
/** Each cell has a hundred ports of its own, and a database of Redis, which has 16. */
const MOST_CELLS = 8;
/** Names that end with one of these have another meaning: the roles and secrets of an owner, jobs, upstreams of nginx. */
const Cell = z
  .string()
  .regex(
    /^(?!(?:migrate|owner|streams)$)[a-z][a-z0-9]{0,14}$/,
    'must be at most 15 lower-case letters and digits, and not migrate, owner or streams',
  );

const Rehearsal = z.strictObject({
  /** A request that any bearer of all scopes may send, and the field of the answer with the id. */
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
    .max(MOST_CELLS, `must be at most ${MOST_CELLS}`)
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

/** @throws naming two services that have the same value */
const refuseShared = (
  what: string,
  valuesOf: (service: ListedService) => readonly (string | number)[],
  services: readonly ListedService[],
): void => {
  const owners = new Map<string | number, string>();
  for (const service of services)
    for (const value of valuesOf(service)) {
      const other = owners.get(value);
      if (other !== undefined) throw new Error(`${other} and ${service.name} have the same ${what} ${value}`);
      owners.set(value, service.name);
    }
};

/** A service of the list, or a cell of it. */
export type ListedService = z.output<typeof Service> & {
  name: string;
  /** Name of its database, and of the role that it runs as. */
  database: string;
  /** Name of its package and of its image: that of the service. */
  image: string;
  /** What all its public addresses begin with, and the audience of its tokens ends with: `/cells/b`; empty unless it is a cell. */
  prefix: string;
  /** Number of its database in Redis: 0 unless it is a cell. */
  redisDatabase: number;
  /** Variables that a cell and its migrations have wherever it runs. */
  cellSettings: Record<string, string>;
};
/** A public address of a service. */
export type ListedPath = z.output<typeof Path>;

const notCell = { prefix: '', redisDatabase: 0, cellSettings: {} };
const named = (name: string) => ({ name, database: name.replaceAll('-', '_') });

/** A cell: the same code, with names, ports, addresses, database and keys in Redis of its own. */
const cellOf = (service: ListedService, cell: string, number: number): ListedService => {
  const { image, port, paths, deploy, standIn } = service;
  const { volume, probe } = deploy;
  const prefix = `/cells/${cell}`;
  const own = named(`${image}-${cell}`);
  return {
    ...service,
    ...own,
    prefix,
    redisDatabase: number,
    cellSettings: {
      DATABASE_SCHEMA: own.database,
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

/** Each service, and after it its cells. The service itself is its first cell. */
export const withCells = (services: readonly ListedService[]): ListedService[] =>
  services.flatMap((service) => [
    service,
    ...service.cells.map((cell, index) => cellOf(service, cell, index + 1)),
  ]);

/**
 * Reads a list of services, which are returned in the order of their ports.
 * @throws naming the file and the fields that are wrong
 */
export const readServices = (file: string): ListedService[] => {
  const { data, error } = List.safeParse(parse(readFileSync(file, 'utf8')));
  if (error) throw new Error(`${file}:\n${z.prettifyError(error)}`);
  const services = Object.entries(data)
    .map(([name, service]) => ({ ...notCell, ...named(name), image: name, ...service }))
    .toSorted((one, other) => one.port - other.port);
  const all = withCells(services);
  refuseShared('database', ({ database }) => [database], all);
  refuseShared('port', ({ port }) => [port], all);
  refuseShared('path', ({ paths }) => paths.map(({ path }) => path), all);
  return services;
};
