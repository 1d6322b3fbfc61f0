/** The baseline of the project list: an Express 5 handler that runs the same SELECT with postgres.js. Prints its port. */
import type { AddressInfo } from 'node:net';
import express from 'express';
import postgres from 'postgres';

const [url = ''] = process.argv.slice(2);
const sql = postgres(url, { max: 10 });
const app = express();
app.get('/v1/projects', async (_req, res) => {
  res.json(
    await sql`
    select id, name, status, source_language, target_languages, created_at, updated_at
    from projects order by updated_at, id limit 51`,
  );
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(String((server.address() as AddressInfo).port));
});
