import { execFile } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { copyContext } from './context.ts';
import { readStages, type Step } from './stages.ts';

/** Result of a stage. */
export interface Stage {
  /** Folder that stands for `/`. */
  root: string;
  folder: string;
  env: Record<string, string>;
  labels: Record<string, string>;
  user: number | undefined;
  /** Arguments of ENTRYPOINT and CMD together, and of HEALTHCHECK. */
  command: string[];
  health: string[];
}

interface Build {
  dockerfile: string;
  /** The stage to build, by default the last one; only the stages that it needs are built. */
  target?: string;
  args: Record<string, string>;
  /** Empty folder for the stages. */
  work: string;
  /** Environment of every RUN. */
  env: Record<string, string>;
}

const execute = promisify(execFile);

/** Copies a file, or what is in a folder, as it is. `cp` is several times faster than Node.js for thousands of files. */
const copyInto = async (from: string, to: string): Promise<void> => {
  mkdirSync(to, { recursive: true });
  await execute('cp', ['-R', '-P', '-p', statSync(from).isDirectory() ? `${from}/.` : from, to]);
};

const listOf = (text: string): string[] => JSON.parse(text.slice(text.indexOf('['))) as string[];

/**
 * Executes the steps of a Dockerfile without a container, each stage in its own folder: RUN lines run on this machine, in
 * the folder of their stage, as their user. Global tools and the contents of base images are those of this machine.
 */
export const build = ({ dockerfile, target, args, work, env }: Build): Promise<Stage> => {
  const { presets, stages } = readStages(dockerfile);
  const built = new Map<string, Stage>();

  const begin = async (base: string, name: string): Promise<Stage> => {
    const root = join(work, name);
    mkdirSync(root, { recursive: true });
    if (!stages.has(base))
      return { root, folder: '/', env: {}, labels: {}, user: undefined, command: [], health: [] };
    const from = await make(base);
    await copyInto(from.root, root);
    return { ...from, env: { ...from.env }, labels: { ...from.labels }, root };
  };

  const make = async (name: string): Promise<Stage> => {
    const done = built.get(name);
    if (done) return done;
    const found = stages.get(name);
    if (found === undefined) throw new Error(`there is no stage ${name}`);
    const vars: Record<string, string> = {};
    const filled = (text: string): string =>
      text.replaceAll(/\$\{?(\w+)\}?/g, (_, variable: string) => vars[variable] ?? '');
    const stage = await begin(found.base, name);
    const inside = (path: string): string => join(stage.root, posix.resolve(stage.folder, path));

    const copy = async (text: string): Promise<void> => {
      const [, from, source = '', to = ''] = /^(?:--from=(\S+)\s+)?(\S+)\s+(\S+)$/.exec(filled(text)) ?? [];
      mkdirSync(inside(to), { recursive: true });
      if (from === undefined) copyContext(source, inside(to));
      else await copyInto(join((await make(from)).root, source), inside(to));
    };
    const run = async (text: string): Promise<void> => {
      const command = text.replaceAll(/--mount=\S+\s+/g, '');
      if (command.startsWith('npm install --global')) return;
      // Paths of the image are paths below the folder of the stage.
      const own = Object.entries(stage.env).map(([variable, value]) => [
        variable,
        value.replace(/^\/repo/, `${stage.root}/repo`),
      ]);
      await execute('sh', ['-ec', command], {
        cwd: inside('.'),
        env: { ...env, ...vars, ...Object.fromEntries(own) },
        maxBuffer: 10_000_000,
        ...(stage.user !== undefined && { uid: stage.user, gid: stage.user }),
      });
    };
    const perform = async ({ keyword, text }: Step): Promise<void> => {
      if (keyword === 'ARG') {
        for (const argument of text.split(' ')) {
          const [variable = '', preset = ''] = argument.split(/=(.*)/s);
          vars[variable] = args[variable] ?? (filled(preset) || presets[variable] || '');
        }
      } else if (keyword === 'ENV' || keyword === 'LABEL') {
        const into = keyword === 'ENV' ? stage.env : stage.labels;
        for (const [, variable = '', quoted, plain = ''] of text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S+))/g))
          into[variable] = filled(quoted ?? plain);
      } else if (keyword === 'WORKDIR') {
        stage.folder = filled(text);
        mkdirSync(inside('.'), { recursive: true });
      } else if (keyword === 'COPY') await copy(text);
      else if (keyword === 'RUN') await run(text);
      else if (keyword === 'USER') stage.user = Number(text.split(':')[0]);
      else if (keyword === 'ENTRYPOINT' || keyword === 'CMD') stage.command = listOf(text);
      else if (keyword === 'HEALTHCHECK') stage.health = listOf(text);
      else if (!['EXPOSE', 'STOPSIGNAL'].includes(keyword)) throw new Error(`${keyword} is not known here`);
    };
    for (const step of found.steps) await perform(step);
    built.set(name, stage);
    return stage;
  };
  return make(target ?? [...stages.keys()].at(-1) ?? '');
};
