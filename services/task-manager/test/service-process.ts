import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const folder = new URL('..', import.meta.url).pathname;
const around = { PATH: '/usr/local/bin:/usr/bin:/bin' };

/** Runs one of the service's scripts to its end and returns its output. */
export const runScript = async (script: string, variables: Record<string, string>): Promise<string> => {
  const child = spawn(process.execPath, [script], { cwd: folder, env: { ...around, ...variables } });
  const closed = once(child, 'close');
  let printed = '';
  let complaint = '';
  child.stdout.on('data', (chunk) => (printed += String(chunk)));
  child.stderr.on('data', (chunk) => (complaint += String(chunk)));
  const [code] = (await closed) as [number];
  if (code !== 0) throw new Error(`${script} ended with ${code}: ${complaint}`);
  return printed;
};

const portOf = async (child: ChildProcess): Promise<number> => {
  if (child.stdout === null) throw new Error('no output');
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, port } = JSON.parse(line) as { msg: string; port?: number };
    if (msg === 'listening' && port !== undefined) return port;
  }
  throw new Error('the service ended before it listened');
};

/** The service as a separate process; disposal kills it with SIGKILL. */
export const startProcess = async (variables: Record<string, string>) => {
  const child = spawn(process.execPath, ['src/main.ts'], {
    cwd: folder,
    env: { ...around, ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  const port = await portOf(child);
  child.stdout.resume();
  return { url: `http://127.0.0.1:${port}`, kill, [Symbol.asyncDispose]: kill };
};
