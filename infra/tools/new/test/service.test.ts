import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type {} from '@platform/local/provided';
import { readServices } from '@platform/service-list/read';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { checkName, checkResource } from '../src/name.ts';
import { newService } from '../src/new-service.ts';
import { copyRepository, root } from './copy.ts';
import { inherited } from './env.ts';

const name = 'parcel-tracker-of-the-north';
let copy: ReturnType<typeof copyRepository>;
let folder: string;

/** Runs Node in a folder of the copy; rejects with its output. */
const node = async (cwd: string, ...args: string[]): Promise<string> => {
  const env = {
    ...inherited,
    NODE_COMPILE_CACHE: join(copy.folder, '.local/compile-cache'),
    npm_execpath: join(import.meta.dirname, 'linking-pnpm.ts'),
    TEST_POSTGRES_URL: inject('postgresUrl'),
    TEST_REDIS_URL: inject('redisUrl') ?? '',
  };
  const result = promisify(execFile)(process.execPath, args, { cwd, env, timeout: 600_000 });
  const { stdout, stderr } = await result.catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`node ${args.join(' ')}\n${error.stdout}${error.stderr}`, { cause: error });
  });
  return stdout + stderr;
};

/** Checks the types of one package with the options of the repository. */
const checkTypes = async (path: string): Promise<void> => {
  const project = { extends: './tsconfig.base.json', include: [`${path}/src`, `${path}/test`] };
  writeFileSync(join(copy.folder, 'tsconfig.part.json'), JSON.stringify(project));
  await tool('typescript/bin/tsc', '--project', 'tsconfig.part.json');
};

const createService = (service: string, ...args: string[]): Promise<string> =>
  node(copy.folder, 'infra/tools/new/src/main.ts', 'service', service, ...args);
const coldRooms = ['--resource', 'cold-rooms'];
const tool = (path: string, ...args: string[]): Promise<string> =>
  node(copy.folder, `node_modules/${path}`, ...args);

beforeAll(() => {
  copy = copyRepository();
  folder = join(copy.folder, 'services', name);
});
afterAll(() => copy[Symbol.dispose]());

test.for([
  ['Parcels', 'is not a valid name for a service'],
  ['parcel--tracker', 'is not a valid name for a service'],
  ['../parcels', 'is not a valid name for a service'],
  ['1st', 'is not a valid name for a service'],
  ['a'.repeat(42), 'is too long'],
  ['postgres', 'is reserved'],
  ['quest-service', 'is taken: services/quest-service exists'],
  ['architecture', 'is taken: docs/architecture.md exists'],
])('the name %s is refused', ([serviceName = '', message]) => {
  expect(() => checkName(root, serviceName)).toThrow(message);
});

test.for([
  ['Parcels', undefined, '"Parcels" is not a valid name for a resource'],
  ['cold--rooms', undefined, '"cold--rooms" is not a valid name for a resource'],
  ['people', undefined, 'is ambiguous'],
  ['shelves', undefined, 'is ambiguous'],
  ['news', 'news', 'are both "news"'],
  ['pages', 'page', '"pages" is reserved'],
  ['quests', undefined, 'another service has the path /v1/quests'],
] as const)('the resource %s with the singular %s is refused', ([plural, singular, message]) => {
  expect(() => checkResource(root, plural, singular)).toThrow(message);
});

test('a refused command gives the reason and creates nothing', async () => {
  const before = readdirSync(join(copy.folder, 'services'));
  await expect(createService('postgres', ...coldRooms)).rejects.toThrow('"postgres" is reserved');
  await expect(createService(name)).rejects.toThrow('pass service NAME --resource NOUN');
  expect(readdirSync(join(copy.folder, 'services'))).toEqual(before);
});

test('the singular is the plural without "s", unless it is passed', () => {
  expect(checkResource(root, 'parcels')).toBe('parcel');
  expect(checkResource(root, 'cold-rooms')).toBe('cold-room');
  expect(checkResource(root, 'shelves', 'shelf')).toBe('shelf');
});

test('--help prints how a service is created', async () => {
  expect(await node(copy.folder, 'infra/tools/new/src/main.ts', '--help')).toMatch(
    /^new service NAME --resource NOUN/,
  );
});

test('a step that fails leaves no files behind', () => {
  const read = (file: string): string => readFileSync(join(copy.folder, file), 'utf8');
  const changed = ['services.yaml', 'infra/deploy/compose.yaml', 'infra/deploy/chart/values.yaml'];
  const before = changed.map(read);
  const service = { name, plural: 'cold-rooms', singular: 'cold-room' };
  expect(() => newService(copy.folder, service, 'no-such-pnpm.js')).toThrow(
    'install --no-frozen-lockfile failed',
  );
  expect(changed.map(read)).toEqual(before);
  expect([folder, join(copy.folder, `docs/${name}.md`)].filter(existsSync)).toEqual([]);
});

test('a new service starts, answers as its document describes, and passes formatter, linter and type check', async () => {
  const output = await createService(name, ...coldRooms);
  expect(output).toContain('Each cold room has only a name.');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  expect(files.filter((path) => !path.includes('node_modules') && /spare.?part/i.test(path))).toEqual([]);
  expect(existsSync(join(folder, 'migrations/0000_cold_rooms.sql'))).toBe(true);
  const services = readServices(join(copy.folder, 'services.yaml'));
  expect(services.find((service) => service.name === name)).toMatchObject({
    port: 7,
    scopes: [`${name}:read`, `${name}:write`, 'ops:read'],
    paths: [{ path: '/v1/cold-rooms' }, { path: `/v1/feeds/${name}`, stream: true }],
  });
  const paths = [`services/${name}`, `docs/${name}.md`];
  await tool('oxfmt/bin/oxfmt', '--check', 'services.yaml', 'infra/deploy', ...paths);
  await tool('oxlint/bin/oxlint', ...paths);
  await tool('@redocly/cli/bin/cli.js', 'lint', `services/${name}/openapi.json`);
  await checkTypes(`services/${name}`);
  for (const script of ['openapi:check', 'migrations:check']) await node(folder, '--run', script);
  expect(await node(folder, '--run', 'test')).toMatch(/Tests .*\d+ passed/);
  await expect(createService(name, ...coldRooms)).rejects.toThrow('is taken');
});

// Uses the service that the previous test created.
test('a new service is part of the gateway, the deployment, the client and the rehearsal', async () => {
  const tests = ['/v1/cold-rooms and every path below it', 'has connections', `column of ${name} that`];
  const files = ['addresses', 'compose', 'rollout'].map((file) => `test/${file}.test.ts`);
  const output = await tool('vitest/vitest.mjs', 'run', ...files, '-t', tests.join('|'));
  expect(output).toMatch(/Tests .*3 passed/);
  await node(join(copy.folder, 'infra/deploy'), '--run', 'generate:check');
  const compose = readFileSync(join(copy.folder, 'infra/deploy/compose.yaml'), 'utf8');
  expect(compose).toContain(`\n  ${name}:\n`);
  await checkTypes('packages/client');
  const index = readFileSync(join(copy.folder, 'packages/client/src/generated/index.ts'), 'utf8');
  expect(index).toContain('export const parcelTrackerOfTheNorth: ');
});

/** Inserts text into a file of the new service's resource, before `part`. */
const insertBefore = (file: string, part: string, addition: string): void => {
  const path = join(folder, 'src/cold-rooms', file);
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(part);
  writeFileSync(
    path,
    text.replace(part, () => addition + part),
  );
};

// CONTRIBUTING.md, "Add an endpoint", with the same service.
test('an endpoint is added in four files, and passes its tests', async () => {
  insertBefore(
    'schema.ts',
    'export const ColdRoomPatch',
    `export const ColdRoomAge = z.object({ newer: z.int().min(0) }).meta({ id: 'ColdRoomAge' });

`,
  );
  insertBefore(
    'queries.ts',
    'export const insertColdRoom',
    `/** Number of newer cold rooms; undefined if the cold room does not exist. */
export const countNewer = async (sql: Queries, id: string): Promise<number | undefined> => {
  const [row] = await sql<{ newer: number }[]>\`
    select (select count(*)::int from cold_rooms newer where newer.cold_room_id > this.cold_room_id) as newer
    from cold_rooms this where cold_room_id = \${id}\`;
  return row?.newer;
};

`,
  );
  writeFileSync(
    join(folder, 'src/cold-rooms/routes.ts'),
    `import { orNotFound } from '@platform/service-kit/record-versions';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { countNewer } from './queries.ts';
import { ColdRoomAge, ColdRoomPath } from './schema.ts';

export const ageRoute = ({ reader, database: { sql } }: Context): Route =>
  route(
    {
      method: 'get',
      path: '/cold-rooms/{coldRoomId}/age',
      operationId: 'getColdRoomAge',
      tag: 'Cold rooms',
      summary: 'How many cold rooms are newer',
      auth: reader,
      params: ColdRoomPath,
      responses: { 200: { description: 'The number of newer cold rooms', body: ColdRoomAge } },
      problems: [404],
    },
    async ({ params: { coldRoomId } }) => ({
      status: 200,
      body: { newer: orNotFound(await countNewer(sql, coldRoomId), 'cold room') },
    }),
  );
`,
  );
  insertBefore(
    '../app.ts',
    'import { coldRoomFeed, coldRoomRoutes }',
    "import { ageRoute } from './cold-rooms/routes.ts';\n",
  );
  insertBefore('../app.ts', '...coldRoomRoutes(context)', 'ageRoute(context), ');
  insertBefore(
    'record.test.ts',
    "test('cold rooms are listed",
    `test('the newer cold rooms are counted for a caller who may read', async () => {
  const { headers } = await post(service, '/cold-rooms', { name: 'old' }).expect(201);
  await post(service, '/cold-rooms', { name: 'new' }).expect(201);
  const path = \`\${String(headers['location']).slice('/v1'.length)}/age\`;
  expect((await get(service, path).expect(200)).body).toEqual({ newer: 1 });
  await get(service, '/cold-rooms/1/age').expect(400);
  await supertest(service.app).get(\`/v1\${path}\`).expect(401);
});

`,
  );
  await node(folder, '--run', 'openapi');
  const client = join(copy.folder, 'packages/client');
  await node(client, '--run', 'generate');
  for (const path of [`services/${name}`, 'packages/client']) await checkTypes(path);
  expect(await node(folder, '--run', 'test', '--', 'record', 'exercise')).toMatch(/Tests .*\d+ passed/);
});
