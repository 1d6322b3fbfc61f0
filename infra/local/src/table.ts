import type { Demo } from './service-process.ts';
import type { Stack } from './local-folder.ts';

const SHOWN = 28;

/** Tokens would fill the screen, where others may see them. */
const shorten = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);

const shown = (value: unknown): string => {
  if (typeof value === 'string') return shorten(value);
  return typeof value === 'object' ? '(in stack.json)' : JSON.stringify(value);
};

const withoutPassword = (url: string): string => {
  const open = new URL(url);
  if (open.password) open.password = '…';
  return decodeURIComponent(open.href);
};

const rows = (pairs: [string, string][]): string[] => {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`);
};

const addresses = (stack: Stack, localFolder: string, portal: string | undefined): [string, string][] => [
  ['gateway', stack.gateway ?? 'none: nginx is missing; the services answer on their own ports'],
  ...(portal ? [['portal', `${portal}  (opens the demo data, once)`] satisfies [string, string]] : []),
  ...Object.entries(stack.services).map(([name, { url }]): [string, string] => [name, url]),
  ['PostgreSQL', withoutPassword(stack.postgres.url)],
  [
    'Redis',
    stack.redis
      ? withoutPassword(stack.redis.url)
      : 'none: redis-server is missing; rate limits count in each process',
  ],
  ['logs', `${localFolder}/logs`],
];

/** The command reads its token from stack.json when it runs, so that no token is on the screen. */
const withoutTokens = (command: string, { demo }: Stack, localFolder: string): string => {
  const file = `${localFolder}/stack.json`;
  return ['adminToken', 'consignmentsToken'].reduce((text, name) => {
    const header = `'Authorization: Bearer ${String(demo[name])}'`;
    return text.replaceAll(header, `"Authorization: Bearer $(node -p 'require("${file}").demo.${name}')"`);
  }, command);
};

/** What `start` prints when the stack is ready. */
export const table = (
  stack: Stack,
  curls: Demo['curls'],
  localFolder: string,
  portal: string | undefined,
): string =>
  [
    '',
    'Addresses',
    ...rows(addresses(stack, localFolder, portal)),
    '',
    `Demo credentials (complete in ${localFolder}/stack.json)`,
    ...rows(Object.entries(stack.demo).map(([name, value]) => [name, shown(value)])),
    `  Your own token: npx -y pnpm@10.34.9 -s run token --scope "…"`,
    ...(curls.length > 0 ? ['', 'Try'] : []),
    ...curls.flatMap(({ title, command }) => [
      `  # ${title}`,
      // Answers do not end with a line feed.
      `  ${withoutTokens(command, stack, localFolder)}; echo`,
    ]),
    '',
  ].join('\n');
