import { runProgram } from '@platform/program';
import { databaseUrl } from '@platform/service-kit/env';
import { openSlowDatabase } from './db/slow-connection.ts';
import { checkWholeLedger } from './reporting/proof/proving.ts';

const usage = `proof: checks the whole ledger, sealed or not, and prints the result as JSON
The result replaces the last one of the service, unless the database is a replica. Exit code 1: the ledger has violations.
The database is that of DATABASE_URL, else that of the local stack.`;

await runProgram(usage, async () => {
  await using database = openSlowDatabase(databaseUrl('wallet-operator'));
  const proof = await checkWholeLedger(database.sql);
  process.stdout.write(`${JSON.stringify(proof, null, 2)}\n`);
  return proof.ok ? 0 : 1;
});
