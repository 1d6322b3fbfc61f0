import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { freePortBase } from '@platform/local/ports';
import type {} from '@platform/local/provided';
import { codeBlocks, scriptOfPage, skipReason } from './testing/code-blocks.ts';
import { newcomer } from './testing/env.ts';

const root = new URL('../../../..', import.meta.url).pathname;
const START = 'npx -y pnpm@10.34.9 start\n';

const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const pages = ['README.md', 'CONTRIBUTING.md', ...docs.map((name) => `docs/${name}`)];
const read = (page: string): string => readFileSync(join(root, page), 'utf8').replace(START, '');
const withCommands = pages.filter((page) => scriptOfPage(read(page)) !== '');

/** A copy of the repository without installed packages, as a newcomer has it. */
let checkout = '';
let platform: ChildProcess | undefined;
let output = '';
let portBase = 0;
/** Path of pnpm in the cache of npx. Calling it through npx takes four times as long. */
let pnpm = '';
const quickNpx = (): string => `npx() { shift 2; '${pnpm}' "$@"; }\n`;
const environment = () => ({
  ...newcomer,
  PORT_BASE: String(portBase),
  GATEWAY_PORT: String(portBase + 99),
  CURL_HOME: checkout,
  NODE_COMPILE_CACHE: join(checkout, '.compile-cache'),
});

const copyRepository = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'newcomer-'));
  const options = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = spawnSync('git', ['-c', 'safe.directory=*', ...options], {
    cwd: root,
    maxBuffer: 1 << 28,
  });
  const files = stdout.toString().split('\0');
  for (const path of files.filter((file) => file !== '' && existsSync(join(root, file))))
    cpSync(join(root, path), join(folder, path), { verbatimSymlinks: true });
  // Makes curl fail for a status of 400 or above.
  writeFileSync(join(folder, '.curlrc'), 'fail-with-body\nmax-time = 60\n');
  return folder;
};

/** zsh, the default shell of macOS, where it is installed. */
const otherShell = spawnSync('zsh', ['--version']).status === 0 ? 'zsh' : 'bash';

/** Runs a script as if it were pasted into a terminal; returns its exit code and output. */
const paste = (
  script: string,
  shell: 'bash' | 'zsh' = 'bash',
): Promise<{ code: number | null; output: string }> => {
  const args = shell === 'zsh' ? ['-f', '-s'] : ['-s'];
  const child = spawn(shell, args, { cwd: checkout, env: environment(), stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text));
  child.stdin.end(script);
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
};

beforeAll(async () => {
  if (!inject('nginxPath') || !inject('redisUrl')) return;
  checkout = copyRepository();
  portBase = await freePortBase();
  const child = spawn('bash', ['-c', START], { cwd: checkout, env: environment(), detached: true });
  platform = child;
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text));
  // `start` first installs all packages, perhaps with an empty store.
  const hasStarted = (): boolean =>
    child.exitCode !== null || /everything is ready|did not start/.test(output);
  await vi.waitUntil(hasStarted, 1_200_000);
  if (!output.includes('everything is ready')) throw new Error(output);
  const which = await paste('npx -y --package pnpm@10.34.9 which pnpm 2>/dev/null');
  pnpm = which.output.trim();
}, 1_300_000);

afterAll(async () => {
  if (platform?.pid === undefined) return;
  try {
    if (platform.exitCode !== null) return;
    // Ctrl-C reaches every process of the terminal.
    process.kill(-platform.pid, 'SIGINT');
    await once(platform, 'exit');
  } finally {
    rmSync(checkout, { recursive: true, force: true });
  }
});

test('the README begins with the command that starts the platform', () => {
  expect(codeBlocks(readFileSync(join(root, 'README.md'), 'utf8'))[0]?.code).toBe(START);
});

test.runIf(inject('nginxPath') && inject('redisUrl')).concurrent.each(withCommands)(
  'the commands of %s can be pasted as they are into bash, and a second time into zsh',
  async (page) => {
    for (const time of ['first', 'second']) {
      // The real npx is tested once.
      const usesNpx = time === 'first' && page === 'README.md';
      const { code, output } = await paste(
        (usesNpx ? '' : quickNpx()) + scriptOfPage(read(page)),
        time === 'first' ? 'bash' : otherShell,
      );
      expect({ time, code, output: code === 0 ? '' : output }).toEqual({ time, code: 0, output: '' });
    }
  },
  900_000,
);

test.runIf(inject('nginxPath') && inject('redisUrl'))(
  'pnpm runs the programs of every package with the Node.js of the repository, whichever is installed',
  async () => {
    // One package after the other: they share the output, and their lines would mix.
    const command = 'npx -y pnpm@10.34.9 --recursive --workspace-concurrency=1 exec node --version';
    const { code, output } = await paste(`${command} 2>/dev/null`);
    expect({ code, versions: [...new Set(output.trim().split('\n'))] }).toEqual({
      code: 0,
      versions: [process.version],
    });
  },
  300_000,
);

test.each(pages)('every command in a block of %s works without pnpm installed', (page) => {
  const commands = codeBlocks(read(page)).filter(({ language }) => language === 'sh');
  const bare = commands.filter(({ code }) => /^\s*pnpm |\$\(pnpm |[|&;] *pnpm /m.test(code));
  expect(bare).toEqual([]);
});

test.each(pages)('each block of %s is run, or gives the reason why it is not', (page) => {
  const blocks = codeBlocks(read(page)).filter(({ language }) => language === 'sh');
  const unknown = blocks.filter((block) => !['', 'refused'].includes(block.note) && !skipReason(block));
  expect(unknown.map(({ line, note }) => `${line}: ${note}`)).toEqual([]);
});

// In a terminal, zsh parses a comment as words of a command, and a comment line as a command that does not exist.
test.each([...pages, 'infra/local/README.md', 'infra/portal/README.md'])(
  'a comment in a block of %s is a line of its own that zsh cannot take for several commands',
  (page) => {
    const lines = codeBlocks(read(page))
      .filter(({ language }) => language === 'sh')
      .flatMap(({ code }) => code.split('\n'));
    expect(lines.filter((line) => /\S.* # /.test(line) || /^\s*#.*[;|&<>`'?*]/.test(line))).toEqual([]);
  },
);
