/**
 * `wallet-conformance certify|record|check|game-server|reconcile|sign …`: tests an operator's wallet by calling it like a
 * game server. Exit code 1 when the wallet does not keep the contract, 2 when the arguments are wrong or the program could
 * not check everything.
 */
import { runProgram, UsageError } from '@platform/program';
import { certifyCommand } from './commands/certify.ts';
import { gameServerCommand } from './commands/game-server.ts';
import { reconcileCommand } from './commands/reconcile.ts';
import { signCommand } from './commands/sign.ts';
import type { Command } from './commands/command.ts';
import { recordCommand, checkCommand } from './commands/record.ts';

const commands: Record<string, Command> = {
  certify: certifyCommand,
  record: recordCommand,
  check: checkCommand,
  'game-server': gameServerCommand,
  reconcile: reconcileCommand,
  sign: signCommand,
};

const usageOfAll = `wallet-conformance <command>\n\n${Object.values(commands)
  .map(({ usage }) => usage)
  .join('\n')}`;
const [name = ''] = process.argv.slice(2).filter((argument) => argument !== '--');
const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
const run = ([, ...args]: string[]) => {
  if (command === undefined) throw new UsageError(`The commands are ${Object.keys(commands).join(', ')}`);
  return command.run(args);
};
await runProgram(command?.usage ?? usageOfAll, run, 2);
