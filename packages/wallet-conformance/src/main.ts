/**
 * `wallet-conformance certify|record|check|game-server|reconcile|sign …`: tests an operator's wallet as a game server calls it. Exit code 1
 * when the wallet does not keep the contract, 2 when the program was called wrongly or could not judge everything.
 */
import { certifyCommand } from './commands/certify.ts';
import { checkCommand } from './commands/check.ts';
import { gameServerCommand } from './commands/game-server.ts';
import { reconcileCommand } from './commands/reconcile.ts';
import { recordCommand } from './commands/record.ts';
import { signCommand } from './commands/sign.ts';
import type { Command } from './commands/target.ts';
import { complain } from '@platform/wallet-protocol/terminal';

const commands: Record<string, Command> = {
  certify: certifyCommand,
  record: recordCommand,
  check: checkCommand,
  'game-server': gameServerCommand,
  reconcile: reconcileCommand,
  sign: signCommand,
};

// pnpm passes the "--" of its caller on.
const [name = '', ...args] = process.argv.slice(2).filter((argument) => argument !== '--');
const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
if (command === undefined) {
  const usages = Object.values(commands).map(({ usage }) => usage);
  complain(`wallet-conformance <command>\n\n${usages.join('\n')}`);
  process.exitCode = 2;
} else
  process.exitCode = await command.run(args).catch((error: unknown) => {
    complain(`${error instanceof Error ? error.message : String(error)}\n\n${command.usage}`);
    return 2;
  });
