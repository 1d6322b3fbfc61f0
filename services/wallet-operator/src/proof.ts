/**
 * `pnpm --filter wallet-operator proof`: checks the whole ledger, sealed or not, prints the result as JSON, exits with 1 when
 * it is not sound. The result replaces what the service knew, unless the database is a replica.
 */
import { checkWholeLedger } from './reporting/proof/proving.ts';
import { openSlowDatabase } from './db/slow-connection.ts';
import { databaseUrl } from '@platform/service-kit/env';

await using database = openSlowDatabase(databaseUrl());
const proof = await checkWholeLedger(database.sql);
process.stdout.write(`${JSON.stringify(proof, null, 2)}\n`);
process.exitCode = proof.ok ? 0 : 1;
