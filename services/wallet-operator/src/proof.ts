import { runProgram } from '@platform/program';
import { databaseUrl } from '@platform/service-kit/env';
import { openSlowDatabase } from './db/slow-connection.ts';
import { checkWholeLedger } from './reporting/proof/proving.ts';

const usage = `proof: checks the whole ledger, sealed or not, and prints the result as JSON
The result replaces what the service knew, unless the database is a replica. Exit code 1: the ledger is not sound.
The database is that of DATABASE_URL, else of the platform that runs here.`;

await runProgram(usage, async () => {
  await using database = openSlowDatabase(databaseUrl('wallet-operator'));
  const proof = await checkWholeLedger(database.sql);
  process.stdout.write(`${JSON.stringify(proof, null, 2)}\n`);
  return proof.ok ? 0 : 1;
});
