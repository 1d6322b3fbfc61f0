import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { camelOf, pascalOf, snakeOf, titleOf, type NewService } from './name.ts';

/** The entries of this service, which has the fewest settings, are the pattern for those of a new one. */
const PATTERN = 'quest-service';

type Edit = (text: string, service: NewService) => string;

/**
 * Adds a copy after the first lines, one below the other, that begin with the one text and contain the other, with the
 * name of the new service.
 */
const copyLines =
  (start: string, part = ''): Edit =>
  (text, { name }) => {
    const lines = text.split('\n');
    const matches = (line: string): boolean => line.startsWith(start) && line.includes(part);
    const first = lines.findIndex(matches);
    if (first === -1) return text;
    const after = lines.findIndex((line, index) => index > first && !matches(line));
    const copies = lines.slice(first, after).map((line) => line.replaceAll(PATTERN, name));
    return lines.toSpliced(after, 0, ...copies).join('\n');
  };

/** Adds a copy after the block that begins with this line and ends with an empty one, with the name of the new service. */
const copyBlock =
  (firstLine: string): Edit =>
  (text, { name }) => {
    const start = text.indexOf(`\n${firstLine}\n`) + 1;
    const end = text.indexOf('\n\n', start) + '\n\n'.length;
    return text.slice(0, end) + text.slice(start, end).replaceAll(PATTERN, name) + text.slice(end);
  };

/** Adds a copy of the YAML documents that begin with this text. */
const copyDocuments =
  (start: string): Edit =>
  (text, { name }) =>
    text
      .split('---\n')
      .flatMap((document) =>
        document.startsWith(start)
          ? [document, document.replaceAll(PATTERN, name).replaceAll(snakeOf(PATTERN), snakeOf(name))]
          : [document],
      )
      .join('---\n');

/** Adds a line before the first one that begins with this text. */
const addAbove = (text: string, start: string, added: string): string =>
  text.replace(`\n${start}`, () => `\n${added}\n${start}`);

const edits =
  (...all: Edit[]): Edit =>
  (text, service) =>
    all.reduce((current, edit) => edit(current, service), text);

/** Adds a line after the first one that begins with the one text and contains the other. */
const addBelow = (text: string, start: string, part: string, added: string): string => {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => line.startsWith(start) && line.includes(part));
  return at === -1 ? text : lines.toSpliced(at + 1, 0, added).join('\n');
};

/** Small enough for the connections of PostgreSQL that are planned for all services. */
const chartValues = (name: string): string => `
  ${name}:
    replicas: { min: 2, max: 2, cpu: 70 }
    resources: { cpu: 250m, memory: 192Mi, memoryLimit: 512Mi }
    secrets: [DATABASE_URL]
    pool: 3
`;

/** The files outside of the service's folder that name every service. */
const EDITS: Record<string, Edit> = {
  'infra/deploy/compose.yaml': edits(
    // Its migration and the service itself.
    copyBlock('  quest-service-migrate:'),
    copyBlock('  quest-service:'),
    // Its passwords, in the list of PostgreSQL and in that of all secrets.
    copyLines('      - quest-service'),
    copyLines('  quest-service-', ': {'),
    // The gateway waits for it.
    copyLines('      quest-service: {'),
  ),
  'infra/deploy/observability/alerts.yaml': copyLines(`            or absent(db_up{service="${PATTERN}"`),
  'infra/deploy/postgres/10-databases.sh': (text, { name }) =>
    text.replace(/^(for service in .*); do$/m, `$1 ${name}; do`),
  'infra/deploy/chart/values.yaml': (text, { name }) => `${text}${chartValues(name)}`,
  'infra/deploy/examples/secrets.yaml': copyDocuments(
    `apiVersion: v1\nkind: Secret\nmetadata: { name: ${PATTERN}`,
  ),
  'infra/deploy/sharding.yaml': (text, { name, plural, singular }) =>
    `${text}${name}:\n  rows:\n    ${snakeOf(plural)}: ${snakeOf(singular)}_id\n`,
  'docs/deploy.md': (text, { name }) =>
    addBelow(
      text.replace(/^(for service in .*); do$/m, `$1 ${name}; do`),
      '| quest-service ',
      '–',
      `| ${name} | 250 m | 192 Mi, 512 Mi | 2 | 3 |`,
    ),
  'docs/backup.md': (text, { name }) =>
    text.replaceAll(/^( *for database in .*); do$/gm, `$1 ${snakeOf(name)}; do`),
  'docs/scaling.md': (text, { name, plural, singular }) =>
    addBelow(
      addBelow(text, '| quest-service ', 'any number', `| ${name} | nothing | any number |`),
      '| quest-service ',
      '`quest_id`',
      `| ${name} | \`${snakeOf(singular)}_id\` | \`${snakeOf(plural)}\` | none |`,
    ),
  'infra/gateway/src/routes.ts': (text, { name, plural }) =>
    text.replace(/^\];$/m, `  { path: '/v1/${plural}', service: '${name}' },\n$&`),
  'infra/gateway/test/addresses.test.ts': (text, { name, plural }) =>
    text.replace(/^};$/m, `  '${name}': ['/v1/${plural}'],\n$&`),
  // What the rehearsal sends to the service, how it finds what was stored, and which column its next version renames.
  'infra/tools/e2e/src/load.ts': (text, { name, plural, singular }) =>
    addAbove(
      text.replace('  questService,\n', `$&  ${camelOf(name)},\n`),
      `    '${PATTERN}': async`,
      `    '${name}': async () =>
      (await unwrap(${camelOf(name)}(gateway, admin).POST('/${plural}', { body: { name: 'Example' } }))).${camelOf(singular)}Id,`,
    ),
  'infra/tools/rehearsal/src/clients.ts': (text, { name, plural, singular }) =>
    addAbove(
      text,
      `  '${PATTERN}': 'select`,
      `  '${name}': 'select ${snakeOf(singular)}_id from ${snakeOf(plural)}',`,
    ),
  'infra/tools/rehearsal/src/next-version.ts': (text, { name, plural }) =>
    addAbove(
      text,
      `  '${PATTERN}': { table`,
      `  '${name}': {
    table: '${snakeOf(plural)}',
    column: 'name',
    type: 'text',
    code: ['name: text().notNull()', "name: text('name_next').notNull()"],
  },`,
    ),
  'packages/client/src/services.ts': (text, { name }) =>
    `${addBelow(text, 'import type', PATTERN, `import type { paths as ${pascalOf(name)} } from './generated/${name}.ts';`)}/** ${titleOf(name)}. */\nexport const ${camelOf(name)}: CreateClient<${pascalOf(name)}> = clientOf('/v1');\n`,
  'packages/client/src/index.ts': (text, { name }) =>
    `${text.replace(/^ {2}questService,\n/m, `$&  ${camelOf(name)},\n`)}export type { components as ${pascalOf(name)} } from './generated/${name}.ts';\n`,
};

/**
 * Names the new service in the files outside of its folder that name every service.
 * @returns the paths of all files that were changed, and a function that restores them
 * @throws when a file has no entry that can be copied
 */
export const registerService = (
  root: string,
  service: NewService,
): { changed: string[]; undo: () => void } => {
  const before = new Map<string, string>();
  const changed: string[] = [];
  const undo = (): void => {
    for (const [path, text] of before) writeFileSync(path, text);
  };
  for (const [file, edit] of Object.entries(EDITS)) {
    const path = join(root, file);
    const text = readFileSync(path, 'utf8');
    const edited = edit(text, service);
    if (edited === text) {
      undo();
      throw new Error(`${file} has no entry of ${PATTERN} to copy.`);
    }
    before.set(path, text);
    writeFileSync(path, edited);
    changed.push(path);
  }
  return { changed, undo };
};
