import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './command.ts';

/** The compose project of the rehearsal, instead of `platform`. */
export const PROJECT = 'platform-rehearsal';

/** Text in documented commands, and its replacement in the rehearsal. */
export type Edit = readonly [old: string, replacement: string];

/** Replaces the call of a script by the script's content, so that edits apply to it. */
const inlineScript = async (commands: string): Promise<string> => {
  const [, file] = /^sh (infra\/\S+\.sh)$/m.exec(commands) ?? [];
  if (file === undefined) return commands;
  return commands.replace(`sh ${file}`, `(\n${await readFile(join(ROOT, file), 'utf8')})`);
};

/** Returns the first code block below a heading in docs/, for the rehearsal's project. @throws when an edit does not match */
export const documentedCommands = async (
  page: string,
  heading: string,
  edits: readonly Edit[] = [],
): Promise<string> => {
  const text = await readFile(join(ROOT, 'docs', page), 'utf8');
  const [, block] = text.split(`# ${heading}\n`)[1]?.split('```') ?? [];
  if (!block?.startsWith('sh')) throw new Error(`docs/${page} has no commands below "${heading}"`);
  const script = await inlineScript(block.slice(block.indexOf('\n') + 1));
  let commands = script
    .replaceAll('-p platform ', `-p ${PROJECT} `)
    .replaceAll('COMPOSE_PROJECT_NAME=platform\n', `COMPOSE_PROJECT_NAME=${PROJECT}\n`)
    .replaceAll('volume rm platform_', `volume rm ${PROJECT}_`);
  for (const [old, replacement] of edits) {
    if (!commands.includes(old)) throw new Error(`docs/${page} has no "${old}" below "${heading}"`);
    commands = commands.replaceAll(old, replacement);
  }
  return commands;
};
