/**
 * A step in the rotation of AUTH_SIGNING_KEY: reads its value from the standard input and writes the new one.
 *
 *   pnpm -s --filter task-manager signing-keys add|use|retire <auth-signing-key >auth-signing-key.new
 */
import { text } from 'node:stream/consumers';
import { parseSigningKeys, rotationSteps } from './sessions/signing-keys.ts';

const fail = (message: string): never => {
  process.stderr.write(`signing-keys: ${message}\n`);
  return process.exit(1);
};

const take = rotationSteps[process.argv[2] ?? ''];
if (take === undefined) fail('name one step: add, use or retire');
else {
  try {
    const keys = take(parseSigningKeys(await text(process.stdin)));
    process.stdout.write(`${JSON.stringify({ keys })}\n`);
  } catch {
    // The error of the parser quotes its input.
    fail('the standard input must be a JWK or a set of them, {"keys": […]}');
  }
}
