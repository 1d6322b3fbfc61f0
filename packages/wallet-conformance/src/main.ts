/**
 * `wallet-conformance certify|record|check|game-server|sign …`: tests an operator's wallet as a game server calls it. Exit code 1
 * when the wallet does not keep the contract, 2 when the program was called wrongly or could not judge everything.
 */
import * as certify from './commands/certify.ts';
import * as check from './commands/check.ts';
import * as gameServer from './commands/game-server.ts';
import * as record from './commands/record.ts';
import * as sign from './commands/sign.ts';
import { complain } from './terminal.ts';

/** `run` resolves with the exit code, and rejects when it was called wrongly; then its usage is printed. */
const commands: Record<string, { usage: string; run(args: string[]): Promise<number> }> = {
  certify,
  record,
  check,
  'game-server': gameServer,
  sign,
};

// pnpm passes the "--" of its caller on.
const [name = '', ...args] = process.argv.slice(2).filter((argument) => argument !== '--');
const command = commands[name];
if (command === undefined) {
  const usages = Object.values(commands).map(({ usage }) => usage);
  complain(`wallet-conformance <command>\n\n${usages.join('\n')}`);
  process.exitCode = 2;
} else
  process.exitCode = await command.run(args).catch((error: unknown) => {
    complain(`${error instanceof Error ? error.message : String(error)}\n\n${command.usage}`);
    return 2;
  });
