import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { DockerfileParser, type Instruction } from 'dockerfile-ast';
import { copyContext } from './context.ts';

/** What a stage has come to. */
export interface Stage {
  /** Folder that stands for `/`. */
  root: string;
  folder: string;
  env: Record<string, string>;
  user: number | undefined;
  /** Arguments of CMD and of HEALTHCHECK. */
  command: string[];
  health: string[];
}

interface Build {
  dockerfile: string;
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
 * machine, in the folder of their stage, as their user. Tools that a stage installs globally are taken from here.
 */
export const build = ({ dockerfile, args, work, env }: Build): Stage => {
  const stages = new Map<string, Stage>();
  let stage: Stage | undefined;
  let vars: Record<string, string> = {};
  const filled = (text: string): string =>
    text.replaceAll(/\$\{?(\w+)\}?/g, (_, name: string) => vars[name] ?? '');
  const inside = (at: Stage, path: string): string => join(at.root, posix.resolve(at.folder, path));

  const begin = (base: string, name: string): Stage => {
    const from = stages.get(base);
    const rootFolder = join(work, name);
    if (from) copyFolder(from.root, rootFolder);
    else mkdirSync(rootFolder, { recursive: true });
    const fresh = { root: rootFolder, folder: '/', env: {}, user: undefined, command: [], health: [] };
    return from ? { ...from, env: { ...from.env }, root: rootFolder } : fresh;
  };
  const copy = (at: Stage, text: string): void => {
    const [, from, source = '', target = ''] = /^(?:--from=(\S+)\s+)?(\S+)\s+(\S+)$/.exec(filled(text)) ?? [];
    const to = inside(at, target);
    mkdirSync(to, { recursive: true });
    const origin = from === undefined ? undefined : stages.get(from);
    if (from !== undefined && origin === undefined) throw new Error(`there is no stage ${from}`);
    if (origin) copyFolder(join(origin.root, source), to);
    else copyContext(to);
  };
  const run = (at: Stage, text: string): void => {
    const command = text.replaceAll(/--mount=\S+\s+/g, '');
    if (command.startsWith('npm install --global')) return;
    // Paths of the image are paths below the folder of the stage.
    const own = Object.entries({ ...at.env }).map(([name, value]) => [
      name,
      value.replace(/^\/repo/, `${at.root}/repo`),
    ]);
    execFileSync('sh', ['-ec', command], {
      cwd: inside(at, '.'),
      env: { ...env, ...vars, ...Object.fromEntries(own) },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(at.user !== undefined && { uid: at.user, gid: at.user }),
    });
  };

  const perform = (instruction: Instruction): void => {
    const keyword = instruction.getKeyword();
    const text = instruction
      .getTextContent()
      .replaceAll(/\\\n\s*/g, '')
      .slice(keyword.length)
      .trim();
    if (keyword === 'ARG') {
      const [name = '', preset = ''] = text.split(/=(.*)/s);
      vars[name] = args[name] ?? filled(preset);
    } else if (keyword === 'FROM') {
      const [base = '', , name = ''] = filled(text).split(' ');
      stage = begin(base, name);
      stages.set(name, stage);
      vars = { NODE_IMAGE: vars['NODE_IMAGE'] ?? '' };
    } else if (stage === undefined) throw new Error(`${keyword} before FROM`);
    else if (keyword === 'ENV')
      for (const [, name = '', quoted, plain = ''] of text.matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g))
        stage.env[name] = filled(quoted ?? plain);
    else if (keyword === 'WORKDIR') {
      stage.folder = filled(text);
      mkdirSync(inside(stage, '.'), { recursive: true });
    } else if (keyword === 'COPY') copy(stage, text);
    else if (keyword === 'RUN') run(stage, text);
    else if (keyword === 'USER') stage.user = Number(text.split(':')[0]);
    else if (keyword === 'CMD') stage.command = listOf(text);
    else if (keyword === 'HEALTHCHECK') stage.health = listOf(text);
    else if (!['EXPOSE', 'STOPSIGNAL'].includes(keyword)) throw new Error(`${keyword} is not known here`);
  };
  for (const instruction of DockerfileParser.parse(dockerfile).getInstructions()) perform(instruction);
  if (stage === undefined) throw new Error('there is no FROM');
  return stage;
};
