/** The baseline of the hot list: an Express 5 handler that does nothing but send the same bytes. */
import { readFileSync } from 'node:fs';
import express from 'express';

const [file = '', port = ''] = process.argv.slice(2);
const body = readFileSync(file);
const app = express();
app.get('/v1/quests/:questId/questions', (_req, res) => {
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', body.length);
  res.end(body);
});
app.listen(Number(port), '127.0.0.1');
