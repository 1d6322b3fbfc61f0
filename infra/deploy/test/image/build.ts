import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { copyContext } from './context.ts';
import { readStages, type Step } from './stages.ts';

/** What a stage has come to. */
export interface Stage {
  /** Folder that stands for `/`. */
  root: string;
  folder: string;
  env: Record<string, string>;
  user: number | undefined;
  /** Arguments of ENTRYPOINT and CMD together, and of HEALTHCHECK. */
  command: string[];
  health: string[];
}

interface Build {
  dockerfile: string;
  /** The stage that is wanted, the last one unless said otherwise; only what it needs is built. */
  target?: string;
  args: Record<string, string>;
  /** Empty folder for the stages. */
  work: string;
  /** Environment of every RUN. */
  env: Record<string, string>;
}

/** What is in a folder, as it is; thousands of files, for which Node.js takes several times as long. */
const copyFolder = (from: string, to: string): void => {
  mkdirSync(to, { recursive: true });
  execFileSync('cp', ['-R', '-P', '-p', `${from}/.`, to]);
};

const listOf = (text: string): string[] => JSON.parse(text.slice(text.indexOf('['))) as string[];

/**
 * Performs the steps of a Dockerfile, each stage in a folder of its own, without a container: RUN lines run on this
 * machine, in the folder of their stage, as their user. Tools that a stage installs globally, and the contents of the
 * images that stages begin with, are taken from here.
 */
export const build = ({ dockerfile, target, args, work, env }: Build): Stage => {
  const { presets, stages } = readStages(dockerfile);
  const built = new Map<string, Stage>();

  const begin = (base: string, name: string): Stage => {
    const root = join(work, name);
    mkdirSync(root, { recursive: true });
    if (!stages.has(base)) return { root, folder: '/', env: {}, user: undefined, command: [], health: [] };
    const from = make(base);
    copyFolder(from.root, root);
    return { ...from, env: { ...from.env }, root };
  };

  const make = (name: string): Stage => {
    const done = built.get(name);
    if (done) return done;
    const found = stages.get(name);
    if (found === undefined) throw new Error(`there is no stage ${name}`);
    const vars: Record<string, string> = {};
    const filled = (text: string): string =>
      text.replaceAll(/\$\{?(\w+)\}?/g, (_, variable: string) => vars[variable] ?? '');
    const stage = begin(found.base, name);
    const inside = (path: string): string => join(stage.root, posix.resolve(stage.folder, path));

    const copy = (text: string): void => {
      const [, from, source = '', to = ''] = /^(?:--from=(\S+)\s+)?(\S+)\s+(\S+)$/.exec(filled(text)) ?? [];
      mkdirSync(inside(to), { recursive: true });
      if (from === undefined) copyContext(source, inside(to));
      else copyFolder(join(make(from).root, source), inside(to));
    };
    const run = (text: string): void => {
      const command = text.replaceAll(/--mount=\S+\s+/g, '');
      if (command.startsWith('npm install --global')) return;
      // Paths of the image are paths below the folder of the stage.
      const own = Object.entries(stage.env).map(([variable, value]) => [
        variable,
        value.replace(/^\/repo/, `${stage.root}/repo`),
      ]);
      execFileSync('sh', ['-ec', command], {
        cwd: inside('.'),
        env: { ...env, ...vars, ...Object.fromEntries(own) },
        stdio: ['ignore', 'pipe', 'pipe'],
        ...(stage.user !== undefined && { uid: stage.user, gid: stage.user }),
      });
    };
    const perform = ({ keyword, text }: Step): void => {
      if (keyword === 'ARG') {
        const [variable = '', preset = ''] = text.split(/=(.*)/s);
        vars[variable] = args[variable] ?? (filled(preset) || presets[variable] || '');
      } else if (keyword === 'ENV') {
        for (const [, variable = '', quoted, plain = ''] of text.matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g))
          stage.env[variable] = filled(quoted ?? plain);
      } else if (keyword === 'WORKDIR') {
        stage.folder = filled(text);
        mkdirSync(inside('.'), { recursive: true });
      } else if (keyword === 'COPY') copy(text);
      else if (keyword === 'RUN') run(text);
      else if (keyword === 'USER') stage.user = Number(text.split(':')[0]);
      else if (keyword === 'ENTRYPOINT' || keyword === 'CMD') stage.command = listOf(text);
      else if (keyword === 'HEALTHCHECK') stage.health = listOf(text);
      else if (!['EXPOSE', 'STOPSIGNAL'].includes(keyword)) throw new Error(`${keyword} is not known here`);
    };
    for (const step of found.steps) perform(step);
    built.set(name, stage);
    return stage;
  };
  return make(target ?? [...stages.keys()].at(-1) ?? '');
};
