import type { Demo } from './service-process.ts';
import type { Stack } from './local-folder.ts';

const MAX_VALUE_CHARS = 28;

/** Truncates long values such as tokens, which would fill the screen and could be read over the shoulder. */
const shorten = (text: string): string =>
  text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS)}…` : text;

const displayValue = (value: unknown): string => {
  if (typeof value === 'string') return shorten(value);
  return typeof value === 'object' ? '(in stack.json)' : JSON.stringify(value);
};

const redactPassword = (text: string): string => {
  const url = new URL(text);
  if (url.password) url.password = '…';
  return decodeURIComponent(url.href);
};

const rows = (pairs: [string, string][]): string[] => {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`);
};

const addresses = (stack: Stack, localFolder: string, portal: string | undefined): [string, string][] => [
  ['gateway', stack.gateway ?? 'none: nginx is missing; the services answer on their own ports'],
  ...(portal ? [['portal', `${portal}  (opens the demo data, once)`] satisfies [string, string]] : []),
  ...Object.entries(stack.services).map(([name, { url }]): [string, string] => [name, url]),
  ['PostgreSQL', redactPassword(stack.postgres.url)],
  [
    'Redis',
    stack.redis
      ? redactPassword(stack.redis.url)
      : 'none: redis-server is missing; rate limits count in each process',
  ],
  ['logs', `${localFolder}/logs`],
];

/** Replaces tokens in a command: it reads them from stack.json when it runs, so that the screen shows no token. */
const replaceTokens = (command: string, { demo }: Stack, localFolder: string): string => {
  const file = `${localFolder}/stack.json`;
  return ['adminToken', 'consignmentsToken'].reduce((text, name) => {
    const header = `'Authorization: Bearer ${String(demo[name])}'`;
    return text.replaceAll(header, `"Authorization: Bearer $(node -p 'require("${file}").demo.${name}')"`);
  }, command);
};

/** The summary that `start` prints when the stack is ready. */
export const stackSummary = (
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
    ...rows(Object.entries(stack.demo).map(([name, value]) => [name, displayValue(value)])),
    `  Your own token: npx -y pnpm@10.34.9 -s run token --scope "…"`,
    ...(curls.length > 0 ? ['', 'Try'] : []),
    ...curls.flatMap(({ title, command }) => [
      `  # ${title}`,
      // Responses do not end with a line feed.
      `  ${replaceTokens(command, stack, localFolder)}; echo`,
    ]),
    '',
  ].join('\n');
