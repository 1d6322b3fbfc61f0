import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './command.ts';

/** The compose project of the rehearsal, instead of `platform`. */
export const PROJECT = 'platform-rehearsal';

/** The folder in which the guides run commands. */
const FOLDER = 'infra/deploy';
export const COMPOSE_FILE = join(ROOT, FOLDER, 'compose.yaml');

/** Text in documented commands, and its replacement in the rehearsal. */
export type Edit = readonly [old: string, replacement: string];

/** Replaces the call of a script by the script's content, so that edits apply to it. */
const inlineScript = async (commands: string): Promise<string> => {
  const [, file] = /^sh (\S+\.sh)$/m.exec(commands) ?? [];
  if (file === undefined) return commands;
  return commands.replace(`sh ${file}`, `(\n${await readFile(join(ROOT, FOLDER, file), 'utf8')})`);
};

/** Returns the first commands below a heading in docs/, to be run in the root of the checkout. @throws when an edit does not match */
export const documentedCommands = async (
  page: string,
  heading: string,
  edits: readonly Edit[] = [],
): Promise<string> => {
  const text = await readFile(join(ROOT, 'docs', page), 'utf8');
  const [, section = ''] = text.split(`# ${heading}\n`);
  const block = section.split('```').find((part, index) => index % 2 === 1 && part.startsWith('sh'));
  if (block === undefined) throw new Error(`docs/${page} has no commands below "${heading}"`);
  const script = await inlineScript(block.slice(block.indexOf('\n') + 1));
  const change = `cd ${FOLDER}\n`;
  let commands = (script.startsWith(change) ? script : change + script).replaceAll(
    'volume rm platform_',
    `volume rm ${PROJECT}_`,
  );
  for (const [old, replacement] of edits) {
    if (!commands.includes(old)) throw new Error(`docs/${page} has no "${old}" below "${heading}"`);
    commands = commands.replaceAll(old, replacement);
  }
  return commands;
};
